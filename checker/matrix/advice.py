"""What would close a loss: neighbours of a configuration that were explored, and hold.

Nothing is advised by rule. First every single change is tried: acks, min.insync.replicas, unclean
elections, any newer version. Faults that none of them closes are tried with more changes at a time,
and then of the versions only with the newest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from checker.matrix.grid import ACKS, AXES, FAULT, MIN_INSYNC, UNCLEAN, VERSION, Axis, Grid, Value
from checker.matrix.outcome import Outcome, Standing
from checker.matrix.properties import Config, min_insync
from checker.matrix.running import INTERRUPTED, Explorer, Watch, explore_cells


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changes after which the same fault does no harm, and the cell that says so."""

    changes: Mapping[str, str]
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedies:
    """What closes a fault, of so many changes `tried`; `unknown` ones were stopped early."""

    closing: tuple[Remedy, ...] = ()
    tried: int = 0
    unknown: int = 0

    @property
    def is_conclusive(self) -> bool:
        """Whether the answer is known: something closes it, or nothing that was tried."""
        return bool(self.closing) or not self.unknown


def remedies(
    config: Config,
    grid: Grid,
    outcomes: Sequence[Outcome],
    explorer: Explorer,
    *,
    watch: Watch = lambda done: None,
) -> dict[str, Remedies]:
    """For each fault that breaks a claim the least changes that close it."""
    stricter = _stricter(config, grid)
    around = replace(grid, axes=_around(grid, stricter))
    broken = {
        outcome.cell.coordinates[FAULT]: outcome.cell.coordinates
        for outcome in outcomes
        if any(claim.is_violated for claim in outcome.claims)
    }
    found = dict.fromkeys(broken, Remedies())
    for count in range(1, len(stricter) + 1):
        tried = [
            (fault, changes)
            for fault in broken
            if not found[fault].closing
            for changes in _changes(stricter, count)
        ]
        cells = [around.cell({**broken[fault], **changes}) for fault, changes in tried]
        explored = explore_cells(around, cells, explorer, watch=watch, stop_at_first=True)
        for (fault, changes), outcome in zip(tried, explored, strict=True):
            found[fault] = _with(found[fault], Remedy(changes, outcome))
        if any(outcome.answer.stopped_by == INTERRUPTED for outcome in explored):
            break
    return found


def _with(so_far: Remedies, remedy: Remedy) -> Remedies:
    """One more that was tried."""
    outcome = remedy.outcome
    holds = outcome.standing is Standing.HOLDS and outcome.emptiness is None
    is_unknown = not outcome.answer.complete and not any(c.is_violated for c in outcome.claims)
    return Remedies(
        closing=(*so_far.closing, remedy) if holds else so_far.closing,
        tried=so_far.tried + 1,
        unknown=so_far.unknown + is_unknown,
    )


def _stricter(config: Config, grid: Grid) -> dict[str, list[str]]:
    """For each axis the values that might help, newest or strictest last."""
    versions = [value.name for value in next(a for a in AXES if a.name == VERSION).values]
    more = config.min_insync_replicas + 1
    stricter = {
        ACKS: ["all"] if config.acks != "all" else [],
        MIN_INSYNC: [str(more)] if more <= grid.replicas else [],
        UNCLEAN: ["false"] if config.unclean == "true" else [],
        VERSION: versions[versions.index(config.version) + 1 :],
    }
    return {axis: values for axis, values in stricter.items() if values}


def _changes(stricter: Mapping[str, list[str]], count: int) -> Iterator[dict[str, str]]:
    """Every choice of `count` axes with a stricter value of each."""
    for axes in itertools.combinations(stricter, count):
        values = [stricter[axis] if count == 1 else stricter[axis][-1:] for axis in axes]
        for chosen in itertools.product(*values):
            yield dict(zip(axes, chosen, strict=True))


def _around(grid: Grid, stricter: Mapping[str, list[str]]) -> tuple[Axis, ...]:
    """The axes of the grid, with the values that might help."""
    return tuple(
        replace(axis, values=(*axis.values, *(_value(axis.name, name) for name in added)))
        for axis, added in ((axis, stricter.get(axis.name, [])) for axis in grid.axes)
    )


def _value(axis: str, name: str) -> Value:
    if axis == MIN_INSYNC:
        return min_insync(int(name))
    return next(known for known in AXES if known.name == axis).value(name)
