"""Order of the lines of one broker: within a file as they stand, across files by their times.

Two lines of the same time in two files are in no order, and a log that writes seconds has the same
time as all of that second. Where a clock has gone back, all lines of the time that it showed twice
are of one time. Times of two brokers are never compared.

A topic that was deleted and created anew has two histories of one name; only the last counts. Topic
ids show it, and so does the impossible: a leader epoch or a partition epoch that falls, a broker
that leads and follows in one epoch. A broker without such lines is cut by the time.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from waterline.checker.kafka.logs.observation import Change, Kind, Observation, Span

_ROLES = (Kind.LEADS, Kind.FOLLOWS, Kind.KNOWS)
_AT_ONCE = {Kind.LOADS: 0, **dict.fromkeys(_ROLES, 1)}
"""Order of two lines of one time: Kafka loads a log, leads or follows, and then does the rest.
Nothing depends on it."""
_NO_TIME = Span(0, 1 << 80)


def in_order(observed: Iterable[Observation]) -> list[Observation]:
    """The lines of a broker, each with its band: in one band, lines of two files are in no order.

    A line that stands in two files, as in server.log and on the console, is taken once.
    """
    chains: dict[str, list[Observation]] = defaultdict(list)
    for seen in _once(observed):
        chains[seen.stream].append(seen)
    every = {
        name: _straighten(sorted(chain, key=attrgetter("number"))) for name, chain in chains.items()
    }
    found: list[Observation] = []
    for band, heads in enumerate(_bands(every)):
        while any(heads):
            chain = min((c for c in heads if c), key=lambda c: _AT_ONCE.get(c[0].kind, 2))
            found.append(replace(chain.pop(0), band=band))
    return found


def _once(observed: Iterable[Observation]) -> Iterator[Observation]:
    found: dict[tuple[object, ...], str] = {}
    for seen in observed:
        ends = seen.offset, seen.high_watermark
        said = seen.span, seen.kind, seen.epoch, ends, seen.isr, seen.leader, seen.partition_epoch
        if seen.span is None or found.setdefault(said, seen.stream) == seen.stream:
            yield seen


def _straighten(chain: Sequence[Observation]) -> list[Observation]:
    """A file whose parts were put together in another order, by their times."""
    lines = list(chain)
    runs = [list(run) for _, run in itertools.groupby(lines, key=lambda seen: seen.run)]
    apart = sorted(runs, key=lambda run: run[0].run or _NO_TIME)
    times = [run[0].run or _NO_TIME for run in apart]
    if apart == runs or any(a.end > b.start for a, b in itertools.pairwise(times)):
        return lines
    return [replace(seen, is_moved=True) for run in apart for seen in run]


def _bands(chains: dict[str, list[Observation]]) -> Iterator[list[list[Observation]]]:
    """Lines of one time, by file: spans that overlap, and what an earlier line was later than."""
    spans = []
    for name, chain in chains.items():
        latest = 0
        for at, seen in enumerate(chain):
            span = (seen.span or _NO_TIME) if len(chains) > 1 else Span(at, at + 1)
            latest = max(latest, span.end)
            spans.append((span.start, latest, name, at))
    end = 0
    band: dict[str, set[int]] = {}
    for start, until, name, at in sorted(spans):
        if band and start >= end:
            yield _take_band(chains, band)
            band = {}
        end = max(end, until)
        band.setdefault(name, set()).add(at)
    if band:
        yield _take_band(chains, band)


def _take_band(
    chains: dict[str, list[Observation]], band: dict[str, set[int]]
) -> list[list[Observation]]:
    return [[chains[name][at] for at in sorted(which)] for name, which in band.items()]


@dataclass(frozen=True, slots=True)
class LastTopic:
    """The lines about the last topic of a name; `topic_id` and `since` where there were more."""

    observed: dict[int, list[Observation]]
    topic_id: str | None = None
    since: int = 0
    note: str = ""

    def has(self, change: Change) -> bool:
        """True if a controller's decision is about this topic."""
        at = change.moment[0]
        return self.topic_id in (None, change.topic_id or self.topic_id) and (
            at == 0 or at >= self.since
        )


def of_last_topic(
    observed: Mapping[int, Sequence[Observation]], decided_ids: Sequence[str | None]
) -> LastTopic:
    """Leave out what is about an older topic of the same name.

    `decided_ids` are those of controllers' decisions, in order.
    """
    topic_id = _last_id(observed, decided_ids)
    cuts = {broker: _cut(lines, topic_id) for broker, lines in observed.items()}
    begun = [(observed[b][at], b) for b, at in cuts.items() if at and at < len(observed[b])]
    whole = {broker: list(lines) for broker, lines in observed.items()}
    if not any(cuts.values()):
        return LastTopic(whole)
    since = _since([seen for seen, _ in begun], whole, cuts)
    for broker, lines in observed.items():
        cut = cuts[broker]
        if cut is None:
            whole[broker] = [o for o in lines if o.span is None or o.span.start >= since]
        else:
            whole[broker] = list(lines[cut:])
    whole = {broker: lines for broker, lines in whole.items() if lines}
    first = min((seen for seen, _ in begun), key=_start, default=None)
    named = f", with the id {topic_id}" if topic_id else ""
    where = f"{first.place}: " if first else ""
    note = f"{where}the topic was created anew{named}; lines about the older one are left out"
    return LastTopic(whole, topic_id, since, note)


def _start(seen: Observation) -> int:
    return seen.span.start if seen.span else 0


def _last_id(
    observed: Mapping[int, Sequence[Observation]], decided_ids: Sequence[str | None]
) -> str | None:
    """The id of the last topic; None where no line has one."""
    decided = [each for each in decided_ids if each is not None]
    told = [(_start(o), o.topic_id) for lines in observed.values() for o in lines if o.topic_id]
    if told:
        return max(told)[1]
    return decided[-1] if decided else None


def _cut(lines: Sequence[Observation], topic_id: str | None) -> int | None:
    """Return where the last topic begins; None if these lines do not identify their topic."""
    at, known, before = 0, None, None
    for number, seen in enumerate(lines):
        if seen.kind not in _ROLES:
            continue
        is_new = seen.topic_id is not None and known not in (None, seen.topic_id)
        if before is not None and (is_new or _cannot_follow(before, seen)):
            at, known, before = number, None, None
        known = seen.topic_id or known
        before = seen
    if known is None:
        return at or None
    return at if known == topic_id else len(lines)


def _cannot_follow(before: Observation, seen: Observation) -> bool:
    if before.epoch is None or seen.epoch is None:
        return False
    numbers = before.partition_epoch, seen.partition_epoch
    falls = None not in numbers and (seen.epoch, numbers[1]) < (before.epoch, numbers[0])
    changes = {before.kind, seen.kind} == {Kind.LEADS, Kind.FOLLOWS}
    return seen.epoch < before.epoch or falls or (seen.epoch == before.epoch and changes)


def _since(
    begun: Sequence[Observation],
    observed: Mapping[int, Sequence[Observation]],
    cuts: Mapping[int, int | None],
) -> int:
    """Half-way between the lines about the older topic and those about the last."""
    older = [_start(o) for b, cut in cuts.items() if cut for o in observed[b][:cut]]
    newer = [_start(o) for o in begun] or [
        _start(o) for b, cut in cuts.items() if cut == 0 for o in observed[b]
    ]
    return (max(older, default=0) + min(newer)) // 2 if newer else max(older, default=0)
