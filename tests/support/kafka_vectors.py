"""Kafka's own unit tests as vectors: which test says what, at which release, and the rules of that.

A vector names the test's class and method and the releases whose source has it. `rules_at` is what
the model declares those releases to follow, so that a vector checks the declaration as well as the
rule. `partition` is a state of any size, for Kafka's tests have logs of hundreds of records: what
is not named has the lowest value of its field, and nothing is packed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from waterline.model.message.cluster import fields
from waterline.model.message.contents import ACTIONS, contents
from waterline.model.message.environment import Environment
from waterline.model.message.epochs import epoch_at, latest_epoch
from waterline.model.message.features import EPOCH_ON_LEADING, has
from waterline.model.message.releases import release_followed
from waterline.model.message.settings import Settings, settings_of
from waterline.model.message.terms import FETCHING, LEADER, NO_EPOCH, UNKNOWN_OFFSET
from waterline.model.message.versions import version_of

UNDEFINED = (NO_EPOCH, UNKNOWN_OFFSET)
"""What Kafka calls UNDEFINED_EPOCH and UNDEFINED_EPOCH_OFFSET."""

Cache = list[tuple[int, int]]
"""An epoch cache as Kafka writes it: (epoch, start offset), in order."""

_LARGEST = {"records": 300, "epochs": 1000}


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """One thing that a test of Kafka's asserts, and the releases whose source has the test.

    `given` and `says` are plain values; the module of the vector tells how it reads them. `rules`
    is the release whose rules it is about, where its source has a feature before one may use it.
    `unlike` is why the model says otherwise at these releases: the vector must then fail.
    """

    test: str
    tags: tuple[str, ...]
    given: Any
    says: Any
    kraft: bool = False
    elr: bool = False
    rules: str = ""
    unlike: str = ""


def calls(vectors: Iterable[Vector]) -> list[Any]:
    """Each vector at each of its releases, as parameters `vector` and `tag` of a test."""
    found: dict[str, int] = defaultdict(int)
    parameters = []
    for vector in vectors:
        for tag in vector.tags:
            name = f"{vector.test}-{tag}"
            found[name] += 1
            marks = [_differs(vector.unlike)] if vector.unlike else []
            parameters.append(
                pytest.param(vector, tag, id=f"{name}-{found[name]}", marks=marks),
            )
    return parameters


def _differs(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True)


def rules_at(tag: str, vector: Vector | None = None, **environment: Any) -> Settings:
    """What the rules of a release read; `environment` is as `model.message.environment` has it."""
    kraft, elr = (vector.kraft, vector.elr) if vector is not None else (False, False)
    release = (vector.rules if vector is not None else "") or tag
    number = tuple(int(part) for part in release.split("."))
    followed = release_followed(number, is_kraft=kraft, eligible_leader_replicas=elr)
    return settings_of(Environment(**environment), version_of(followed.version))


def partition(replicas: int = 2, **given: Any) -> Any:
    """A partition whose replica 0 leads in epoch 0 with everybody in sync, and empty logs.

    Rows are given as a list of their first elements or as a dict by index.
    """
    everyone = (1 << replicas) - 1
    bounds = Environment(replicas=replicas).bounds
    s = SimpleNamespace(replicas=replicas, written={}, **_LARGEST)
    for field in fields(bounds):
        setattr(s, field.name, _row(field.lo) if field.shape else field.lo)
    started: dict[str, Any] = {
        "leader": 0,
        "isr": everyone,
        "up": [1] * replicas,
        "role": [LEADER] + [FETCHING] * (replicas - 1),
        "known_epoch": [0] * replicas,
        "known_isr": [everyone],
    }
    for name, value in (*started.items(), *given.items()):
        _put(s, name, value)
    return s


def _row(lowest: int) -> Any:
    return defaultdict(lambda: lowest)


def _put(s: Any, name: str, value: Any) -> None:
    if not hasattr(s, name):
        raise ValueError(f"the state has no field {name!r}")
    if isinstance(value, list):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        getattr(s, name).update(value)
    else:
        setattr(s, name, value)


def write(s: Any, replica: int, cache: Cache, end: int) -> Any:
    """Give a replica a log that ends at `end` and has this epoch cache.

    Records below its first entry have no epoch. A record is the same in two logs if it is at the
    same offset and of the same epoch. An entry at `end` has no record: lead in that epoch instead.
    """
    starts = {start: epoch for epoch, start in cache}
    epoch = NO_EPOCH
    for offset in range(end):
        epoch = starts.get(offset, epoch)
        s.log[replica, offset] = _record(s, offset, epoch)
    s.leo[replica] = end
    return s


def _record(s: Any, offset: int, epoch: int) -> int:
    """The number of the record that this epoch has at this offset, a new one if there is none."""
    if (offset, epoch) not in s.written:
        s.record_epoch[s.produced] = epoch
        s.produced += 1
        s.written[offset, epoch] = s.produced
    return int(s.written[offset, epoch])


def cache_of(s: Any, c: Settings, replica: int) -> Cache:
    """The epoch cache of a replica, read off its log and its role.

    An entry takes the place of all that are not smaller since KAFKA-7415; before, it was not made.
    """
    cache: Cache = []
    epochs = [epoch_at(s, replica, offset) for offset in range(s.leo[replica])]
    for offset, epoch in enumerate([*epochs, latest_epoch(s, c, replica)]):
        last = cache[-1][0] if cache else NO_EPOCH
        if epoch not in (NO_EPOCH, last) and (epoch > last or has(c, EPOCH_ON_LEADING)):
            cache = [*(entry for entry in cache if entry[0] < epoch), (epoch, offset)]
    return cache


def epochs_of(s: Any, replica: int) -> list[int]:
    """The epoch of every record of a log."""
    return [epoch_at(s, replica, offset) for offset in range(s.leo[replica])]


def is_enabled(s: Any, c: Settings, step: str) -> bool:
    """Whether there is such a step, as `ShrinkIsr 0 1`, and its guard lets it happen."""
    action, arguments = _bound(step)
    return action.name in contents(c) and bool(action.guard(s, c, *arguments))


def take(s: Any, c: Settings, *steps: str) -> Any:
    """Take the steps, each of which must be enabled."""
    for step in steps:
        assert is_enabled(s, c, step), f"{step} is not enabled"
        action, arguments = _bound(step)
        action.effect(s, c, *arguments)
    return s


def _bound(step: str) -> tuple[Any, tuple[int, ...]]:
    name, *arguments = step.split()
    action = next(action for action in ACTIONS if action.name == name)
    return action, tuple(int(argument) for argument in arguments)


def members(of: int) -> set[int]:
    """The replicas in a set that is kept as bits."""
    return {replica for replica in range(of.bit_length()) if of >> replica & 1}


def as_set(replicas: Iterable[int]) -> int:
    """The inverse of `members`."""
    return sum(1 << replica for replica in set(replicas))


def do_work(s: Any, c: Settings, follower: int = 1) -> tuple[int, int]:
    """One round of a follower's fetcher thread: how many epoch questions, how many fetches it sent.

    It asks where to truncate while it has to and can, and fetches once it may.
    """
    asks = is_enabled(s, c, f"OffsetForLeaderEpoch {follower}")
    if asks:
        take(s, c, f"OffsetForLeaderEpoch {follower}")
    if not is_enabled(s, c, f"SendFetch {follower}"):
        return int(asks), 0
    take(s, c, f"SendFetch {follower}", f"LeaderFetch {follower}")
    for answer in ("RecvFetch", "RecvOutOfRange", "RecvDiverging"):
        if is_enabled(s, c, f"{answer} {follower}"):
            take(s, c, f"{answer} {follower}")
            break
    return int(asks), 1
