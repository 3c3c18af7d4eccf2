"""Order of the lines of one broker: within a file as they stand, across files by their times.

Two lines of the same time in two files are in no order, and a log that writes seconds has the same
time as all of that second. Where a clock has gone back, all lines of the time that it showed twice
are of one time. Times of two brokers are never compared.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from waterline.checker.kafka.logs.observation import Kind, Observation, Span

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
    every = {name: _straighten(sorted(chain, key=_number)) for name, chain in chains.items()}
    found: list[Observation] = []
    for band, heads in enumerate(_bands(every)):
        while any(heads):
            chain = min((c for c in heads if c), key=lambda c: _AT_ONCE.get(c[0].kind, 2))
            found.append(replace(chain.pop(0), band=band))
    return found


def _number(seen: Observation) -> int:
    return seen.number


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


def _span(seen: Observation) -> Span:
    return seen.span or _NO_TIME


def _bands(chains: dict[str, list[Observation]]) -> Iterator[list[list[Observation]]]:
    """Lines of one time, by file: spans that overlap, and what an earlier line was later than."""
    spans = []
    for name, chain in chains.items():
        latest = 0
        for at, seen in enumerate(chain):
            span = _span(seen) if len(chains) > 1 else Span(at, at + 1)
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
