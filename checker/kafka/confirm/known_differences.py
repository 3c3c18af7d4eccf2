"""Known and intended differences between the model and released code.

Each is listed in docs/model.md too. A walk that shows one ends there, since model and brokers are
not in the same state any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from checker.kafka.confirm.facts import of
from checker.kafka.confirm.releases import KafkaRelease
from checker.kafka.confirm.stepping import StepSeen
from model.message.environment import REPLICAS_MAX


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """What the code does and the model does not: `describe` with where it is decided.

    `shows` is whether a step that disagreed on brokers of a release is that.
    """

    name: str
    description: str
    shows: Callable[[StepSeen, KafkaRelease], bool]


def _fences_first_fetch(seen: StepSeen, release: KafkaRelease) -> bool:
    """The leader of another epoch answers with an error where the model has an answer."""
    if not release.at_least(2, 1) or release.at_least(2, 5):
        return False
    fetched = re.fullmatch(r"LeaderFetch\(follower=(\d+)\)", seen.call)
    if fetched is None:
        return False
    own = seen.model.get(of(int(fetched[1]), "epoch"))
    leading = {
        seen.model.get(of(replica, "epoch"))
        for replica in range(REPLICAS_MAX)
        if seen.model.get(of(replica, "leads")) == "yes"
    }
    return bool(leading) and own not in leading


KNOWN = (
    KnownDifference(
        "first-fetch-is-fenced",
        "From 2.1 to 2.4 the first fetch of a session carries the leader epoch and is fenced; "
        "here all count as later ones, which carry none (KAFKA-9338).",
        _fences_first_fetch,
    ),
)


def known_difference(seen: StepSeen, release: KafkaRelease) -> KnownDifference | None:
    """The difference on the list that a step shows, None for one that nobody knew of."""
    return next((each for each in KNOWN if each.shows(seen, release)), None)
