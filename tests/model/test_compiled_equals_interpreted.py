"""Compiled, an action or a claim means what it means interpreted: the same successors, the same truth.

On every reachable state of small bounds, and on states that no run reaches, with every field at any
value of its range. There an action may step out of a range: interpreted it raises, compiled it raises
the state's fault flag. One thing compiled code does not check is whether a row is alive; the
interpreted run over the reachable states does.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import invariants
from checker.expander import Expander, Findings, Tally, words_of
from checker.kernel import ACTION_SHIFT, ROW_SHIFT
from checker.problem import Problem
from invariants import reachable
from model.message import message_model
from model.environment import Environment
from model.state import NotAlive, OutOfRange, State, as_dict
from model.terms import FETCHING, LEADER, NO_ROLE, TRUNCATING
from model.transition_system import Arguments, Model
from states import model_of, packed

Successor = tuple[str, Arguments, tuple[int, ...]]


def problem_of(model: Model) -> Problem:
    return Problem(model, invariants.ALL, reachable.ALL)


class Compiled:
    """One state at a time through the compiled kernels."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.problem = problem_of(model)
        self.expander = Expander(self.problem, chunk_rows=1)

    def expand(self, state: State) -> tuple[list[Successor], Tally]:
        tally = Tally(self.problem)
        rows = np.array([state.words], np.uint64)
        found = []
        for count in self.expander.expand(rows, tally):
            for origin, row in zip(self.expander.origin[:count], self.expander.out, strict=False):
                found.append((*self._decoded(int(origin)), words_of(row)))
        return found, tally

    def _decoded(self, origin: int) -> tuple[str, Arguments]:
        """The action and its arguments: row, action and one mixed-radix number in one."""
        assert origin >> ROW_SHIFT == 0
        action = self.model.actions[origin >> ACTION_SHIFT & 0xFF]
        packed_arguments = origin & ((1 << ACTION_SHIFT) - 1)
        arguments: list[int] = []
        for parameter in reversed(action.parameters):
            packed_arguments, value = divmod(packed_arguments, self.model.layout.sizes[parameter.over])
            arguments.insert(0, value)
        return action.name, tuple(arguments)

    def inspect(self, state: State) -> Findings:
        findings = Findings(self.problem)
        self.expander.inspect(np.array([state.words], np.uint64), findings)
        return findings


def interpreted(model: Model, state: State) -> list[Successor]:
    return [
        (step.action.name, step.arguments, step.after.words) for step in model.successors(state)
    ]


def broken(model: Model, state: State) -> list[str]:
    return [
        claim.name
        for claim in problem_of(model).applicable
        if not claim.holds(state, model.settings)
    ]


def broken_compiled(findings: Findings) -> list[str]:
    return [claim.name for claim, is_broken in zip(invariants.ALL, findings.broken, strict=True) if is_broken]


def reachable_states(model: Model) -> Iterator[State]:
    seen = set(model.initial)
    level = list(model.initial)
    while level:
        yield from level
        level = [step.after for state in level for step in model.successors(state)]
        level = list(dict.fromkeys(state for state in level if state not in seen))
        seen.update(level)


import time
for v in ("hw","epoch"):
    for o in (dict(restarts=2,moves=1), dict(restarts=1,moves=1), dict(restarts=1,moves=1,parked_fetches=True,hw_in_response="pre",unclean_leader_election=True), dict(restarts=1,moves=0)):
        m = model_of(v, replicas=2, records=1, epochs=2, **o)
        c = Compiled(m)
        t=time.time(); S=list(reachable_states(m)); t1=time.time()
        for s in S: c.expand(s)
        t2=time.time()
        for s in S: broken_compiled(c.inspect(s))
        t3=time.time()
        for s in S: broken(m, s)
        t4=time.time()
        for s in S: c.inspect(s)
        t5=time.time()
        print(v,o,len(S),t1-t,t2-t1,t3-t2,t4-t3,t5-t4,flush=True)
