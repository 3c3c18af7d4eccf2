"""The releases that have the rules of a version, as headings name them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from waterline.model.message.features import FEATURES
from waterline.model.message.releases import (
    KRAFT_FIRST,
    LAST_MINORS,
    MANNERS,
    NEWEST_RELEASE,
    RELEASES,
    ZOOKEEPER_LAST,
    ReleaseNumber,
)
from waterline.model.message.versions import KAFKA, Version, released_as, version_of


def is_released(version: Version) -> bool:
    """True if some Kafka had exactly these rules: a named version, or that of a release."""
    if released_as(version) is not None:
        return True
    return any(
        active_rules(version_of(release.version), None) == active_rules(version, None)
        for release in RELEASES
    )


def active_rules(version: Version, steps: Collection[str] | None) -> tuple[int, int]:
    """The rules of a version that change something where these are the steps; None: all rules."""
    idle = 0 if steps is None else idle_rules(steps)
    return version.truncation, version.features & ~idle


def idle_rules(steps: Collection[str]) -> int:
    """The rules that change nothing where these are the steps, as bits."""
    return sum(f.bit for f in FEATURES if f.begins_with and f.begins_with not in steps)


def releases_with(version: Version, steps: Collection[str] | None = None) -> str:
    """`Kafka 4.1 to 4.4 with ELR`: the releases that have exactly these rules, "" for none.

    With `steps`, rules that change nothing before another step do not count.
    """
    rules = active_rules(version, steps)
    ranges = []
    for manner in MANNERS:
        spans = _spans(manner)
        having = [span for span in spans if active_rules(span.rules, steps) == rules]
        if having:
            ranges.append(_describe(having[0].first, having[-1].last, manner))
    return f"{KAFKA} {' and '.join(ranges)}" if ranges else ""


@dataclass(frozen=True, slots=True)
class _Span:
    """The first and the last release of a declaration, the last without its patch."""

    rules: Version
    first: ReleaseNumber
    last: ReleaseNumber


def _spans(manner: str) -> list[_Span]:
    of_manner = (manner != "zookeeper", manner == "elr")
    found = [r for r in RELEASES if (r.is_kraft, r.with_eligible_leader_replicas) == of_manner]
    newest = ZOOKEEPER_LAST if manner == "zookeeper" else NEWEST_RELEASE
    lasts = [*(_before(later.since) for later in found[1:]), newest]
    return [
        _Span(version_of(each.version), each.since, last)
        for each, last in zip(found, lasts, strict=True)
    ]


def _before(number: ReleaseNumber) -> ReleaseNumber:
    """The release before: `2.6.0` before 2.6.1, `2.8` before 3.0."""
    major, minor, *patch = number
    if patch:
        return (major, minor, patch[0] - 1)
    return (major, minor - 1) if minor else (major - 1, LAST_MINORS[major - 1])


def _describe(first: ReleaseNumber, last: ReleaseNumber, manner: str) -> str:
    begin, end = (".".join(map(str, number)) for number in (first, last))
    if (*first, 0) == last:
        begin = end
    elif first[:2] == last and first != last:
        end = f"{end}.x"
    span = begin if begin == end else f"{begin} to {end}"
    if manner == "elr":
        return f"{span} with ELR"
    if manner == "kraft":
        return f"{span} with KRaft" if first[:2] <= ZOOKEEPER_LAST else f"{span} without ELR"
    return f"{span} with ZooKeeper" if last >= KRAFT_FIRST else span
