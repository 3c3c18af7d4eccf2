"""Verification of a resumed run: kept levels are judged again and compared with the manifest.

A verdict is never taken from a file. What a manifest says of the levels that are kept follows from
their states: which claims are broken and where, how often each action fired, what was cut, what
happened, which states have no transition. So all of it is found out anew, and a manifest that says
anything else is refused. That leaves out what costs most of a search: to look every successor up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from waterline.checker.problem.packed_rows import Rows, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.account import Account
from waterline.checker.search.engines.engine import Arrivals, Engine, Interrupted
from waterline.checker.search.engines.expander import (
    Expander,
    Findings,
    Tally,
    chunks_of,
    initial_rows,
)
from waterline.checker.storage.plain_files import Damaged

_TIMES = ("seconds", "level_seconds")
_ROOM_ROWS = 256


def judge_again(
    problem: Problem, engine: Engine, account: Account, late: Callable[[], bool]
) -> None:
    """Raise `Damaged` unless the account of the levels in `engine` follows from them.

    Every level but the last has been expanded. If this ends early, with `Interrupted` once `late`
    returns True or with `KeyboardInterrupt`, only what was found again stays in the account.
    """
    _require_initial(problem, engine)
    again = Account(problem)
    last = account.levels[-1].depth
    try:
        for level in account.levels:
            findings, tally = Findings(problem), Tally(problem)
            work = _Judge(problem, steps=level.depth < last)
            for states, of_steps in engine.over_level(level.depth, work):
                findings.add(states)
                tally.add(of_steps)
                if late():
                    raise Interrupted
            _require_no_faults(level.depth, findings, tally)
            found = Arrivals(
                depth=level.depth, new=level.states, broken=findings.as_dict(), on=level.on
            )
            again.arrive(found, level.seconds)
            if work.steps:
                again.leave(tally.as_expansion(), level.depth)
    except (Interrupted, KeyboardInterrupt):
        account.broken, account.deadlock = again.broken, again.deadlock
        account.happened_at, account.happened = again.happened_at, again.happened
        raise
    _require_same(account.as_values(), again.as_values())


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judge of a block of a level; with `steps`, also of the steps out of it; picklable."""

    problem: Problem
    steps: bool

    def __call__(self, block: Rows) -> tuple[Findings, Tally]:
        # Successors are written over each other: there need be no room for all of a chunk's.
        expander = Expander(self.problem, chunk_rows=_ROOM_ROWS)
        findings, tally = Findings(self.problem), Tally(self.problem)
        for rows in chunks_of(block):
            expander.inspect(rows, findings)
            if self.steps:
                for _ in expander.expand(rows, tally):
                    pass
        return findings, tally


def _require_initial(problem: Problem, engine: Engine) -> None:
    """The first level has the initial states, and no others."""
    found = np.concatenate([np.asarray(rows) for rows in engine.over_level(0, _itself)])
    if {state_words(row) for row in found} != {state_words(row) for row in initial_rows(problem)}:
        raise Damaged(
            "level 0 of the run does not have the initial states of its rules: "
            "it was edited: begin the run anew in another directory"
        )


def _itself(block: Rows) -> Rows:
    return block


def _require_no_faults(depth: int, findings: Findings, tally: Tally) -> None:
    """Raise `Damaged` if a rule or a claim raises: a run that was kept has no such level."""
    if findings.faults or tally.faults:
        raise Damaged(
            f"level {depth} of the run has a state in which a rule or a claim raises an error, "
            "which a run that was kept has not: begin it anew in another directory"
        )


def _require_same(text: dict[str, Any], found: dict[str, Any]) -> None:
    """Raises `Damaged`, naming the first thing that differs."""
    for key, value in text.items():
        if key in _TIMES or value == found[key]:
            continue
        where, one, other = key, value, found[key]
        while isinstance(one, dict) and isinstance(other, dict):
            name = next(n for n in sorted({*one, *other}) if one.get(n) != other.get(n))
            where, one, other = f"{where}.{name}", one.get(name), other.get(name)
        raise Damaged(
            "the manifest's account is not what the levels that are kept come to: "
            f"{where} is {_describe(one)} there, and {_describe(other)} by the levels; "
            "it was edited: begin the run anew in another directory"
        )


def _describe(value: Any) -> str:
    return "missing" if value is None else str(value)
