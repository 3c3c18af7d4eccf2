"""Compiled, an action or a claim of the atomic grain means what it means interpreted.

On every reachable state of a small bound, and on states that no run reaches, in two words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.atomic_states import EVERY_VERSION, cluster
from tests.support.states import packed
from tests.support.walking import walk
from waterline.checker.compiler.origins import ACTION_SHIFT, ROW_SHIFT
from waterline.checker.problem.packed_rows import state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.expander import Expander, Findings, Tally
from waterline.invariants.atomic import ALL
from waterline.invariants.atomic.reachable import ALL as REACHABLE
from waterline.model.core.state import OutOfRange, State
from waterline.model.core.transition_system import Arguments, Model

Successor = tuple[str, Arguments, tuple[int, ...]]


class Compiled:
    """A model's compiled kernels, given one state at a time."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.problem = Problem(model, ALL, REACHABLE)
        self.expander = Expander(self.problem, chunk_rows=1)

    def expand(self, state: State) -> tuple[list[Successor], Tally]:
        tally = Tally(self.problem)
        found: list[Successor] = []
        for count in self.expander.expand(np.array([state.words], np.uint64), tally):
            found += [
                (*self._decoded(int(self.expander.origin[i])), state_words(self.expander.out[i]))
                for i in range(count)
            ]
        return found, tally

    def inspect(self, state: State) -> Findings:
        findings = Findings(self.problem)
        self.expander.inspect(np.array([state.words], np.uint64), findings)
        return findings

    def _decoded(self, origin: int) -> tuple[str, Arguments]:
        assert origin >> ROW_SHIFT == 0
        action = self.model.actions[origin >> ACTION_SHIFT]
        digits = origin & ((1 << ACTION_SHIFT) - 1)
        arguments: list[int] = []
        for parameter in reversed(action.parameters):
            digits, value = divmod(digits, self.model.layout.sizes[parameter.over])
            arguments.insert(0, value)
        return action.name, tuple(arguments)


@pytest.mark.parametrize("version", EVERY_VERSION)
def test_every_reachable_state_has_the_same_successors_and_verdicts(version: str) -> None:
    model = cluster(version, log_size=1)
    compiled, c = Compiled(model), model.settings
    states = 0
    for state, steps in walk(model):
        successors, tally = compiled.expand(state)
        findings = compiled.inspect(state)
        happened = [any(r.happens(state, step.after, c) for step in steps) for r in REACHABLE]
        states += 1

        assert successors == [(s.action.name, s.arguments, s.after.words) for s in steps]
        assert tally.happened.tolist() == happened
        assert findings.broken.tolist() == [not claim.holds(state, c) for claim in ALL]
        assert not tally.faults
        assert not findings.faults

    assert states > 1000


READ_EPOCHS = {"epoch", "kip320-first-try"}
"""Their rules look up the epoch of a record, which may not be there. The others seldom fault."""


class AnyState:
    """States with every field anywhere in its range.

    A `tidy` one has logs without holes, of records that were produced, and epochs given out: no
    more reachable, but fewer of its steps leave a range.
    """

    def __init__(self, model: Model, seed: int) -> None:
        self.layout = model.layout
        self.random = np.random.default_rng(seed)

    def drawn(self, *, tidy: bool) -> State:
        values: dict[str, Any] = {
            f.name: self.random.integers(f.lo, f.hi + 1, f.shape).tolist()
            for f in self.layout.fields
        }
        if tidy:
            produced = values["produced"] = max(1, values["produced"])
            issued = values["issued"] = max(1, values["issued"])
            values["known_epoch"] = [min(epoch, issued - 1) for epoch in values["known_epoch"]]
            values["log"] = [
                [1 + record % produced if offset < end else 0 for offset, record in enumerate(log)]
                for end, log in zip(values["leo"], values["log"], strict=True)
            ]
        return packed(self.layout, values)


@pytest.mark.parametrize("version", EVERY_VERSION)
@pytest.mark.parametrize("tidy", [True, False], ids=["tidy", "wild"])
def test_any_state_has_the_same_successors_unless_a_step_leaves_a_range(
    version: str, tidy: bool
) -> None:
    model = cluster(version, replicas=3, epochs=3)
    compiled, states = Compiled(model), AnyState(model, seed=1)
    same = faulted = 0
    for _ in range(300):
        state = states.drawn(tidy=tidy)
        successors, tally = compiled.expand(state)
        try:
            steps = list(model.successors(state))
        except OutOfRange:
            assert (successors, tally.faults) == ([], [state.words])
            faulted += 1
        else:
            assert successors == [(s.action.name, s.arguments, s.after.words) for s in steps]
            same += 1

    assert model.layout.words == 2
    assert same > (200 if tidy else 10)
    assert tidy or faulted > 10 or version not in READ_EPOCHS


@pytest.mark.parametrize("tidy", [True, False], ids=["tidy", "wild"])
def test_any_state_has_the_same_verdicts(tidy: bool) -> None:
    model = cluster("kip320", replicas=3, epochs=3)
    compiled, states, c = Compiled(model), AnyState(model, seed=2), model.settings
    verdicts = []
    for _ in range(500):
        state = states.drawn(tidy=tidy)
        findings = compiled.inspect(state)
        expected = [not claim.holds(state, c) for claim in ALL]
        verdicts.append(expected)

        assert findings.broken.tolist() == expected
        assert not findings.faults

    assert all(True in column for column in zip(*verdicts, strict=True))
    assert not tidy or all(False in column for column in list(zip(*verdicts, strict=True))[:4])
