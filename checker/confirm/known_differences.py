"""Where the model differs from the code of some releases, and is meant to: what walks show of it.

Each is listed in README too. A walk that shows one ends there, since model and brokers are not in
the same state any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from checker.confirm.releases import KafkaRelease
from checker.confirm.stepping import StepSeen


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """What the code does and the model does not: `told` with where it is decided.

    `shows` is whether a step that disagreed on brokers of a release is that.
    """

    name: str
    told: str
    shows: Callable[[StepSeen, KafkaRelease], bool]


def _keeps_epoch(seen: StepSeen, release: KafkaRelease) -> bool:
    """The cache has one more entry, that of an epoch without records."""
    if not release.at_least(2, 0, 1) or release.at_least(2, 7):
        return False
    return (
        not seen.problem
        and bool(seen.differences)
        and seen.call.startswith("OffsetForLeaderEpoch")
        and all(
            each.subject.endswith("epoch cache")
            and each.kafka.startswith(each.model if each.model != "empty" else "")
            for each in seen.differences
        )
    )


KNOWN = (
    KnownDifference(
        "epoch-without-records-stays",
        "Until 2.7 a truncation that removes no record leaves the epoch cache as it is, with the "
        "entry of an epoch in which the broker led and wrote nothing (KAFKA-10706).",
        _keeps_epoch,
    ),
)


def known_difference(seen: StepSeen, release: KafkaRelease) -> KnownDifference | None:
    """The difference on the list that a step shows, None for one that nobody knew of."""
    return next((each for each in KNOWN if each.shows(seen, release)), None)
