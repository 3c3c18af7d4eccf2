"""A state worked out twice, by compiled code and by the interpreted model, to be compared."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tests.support.untrue import EVERY_HW
from waterline import invariants
from waterline.checker.compiler.origins import ACTION_SHIFT, ROW_SHIFT
from waterline.checker.problem.packed_rows import state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.expander import Expander, Findings, Tally
from waterline.invariants import reachable
from waterline.model.core.state import State
from waterline.model.core.transition_system import Arguments, Model, Step

Successor = tuple[str, Arguments, tuple[int, ...]]


PROPERTIES = (*invariants.PROPERTIES, EVERY_HW)


class Compiled:
    """A model's compiled kernels, given one state at a time."""

    def __init__(self, model: Model) -> None:
        self.model = model
        asked = frozenset(claim.name for claim in (*invariants.ALL, *PROPERTIES))
        self.problem = Problem(
            model, invariants.ALL, reachable.ALL, asked=asked, properties=PROPERTIES
        )
        self.expander = Expander(self.problem, chunk_rows=1)

    def expand(self, state: State) -> tuple[list[Successor], Tally]:
        tally = Tally(self.problem)
        found: list[Successor] = []
        for count in self.expander.expand(np.array([state.words], np.uint64), tally):
            origins, rows = self.expander.origin[:count], self.expander.out[:count]
            found += [
                (*self._decoded(int(origin)), state_words(row))
                for origin, row in zip(origins, rows, strict=True)
            ]
        return found, tally

    def inspect(self, state: State) -> Findings:
        findings = Findings(self.problem)
        self.expander.inspect(np.array([state.words], np.uint64), findings)
        return findings

    def _decoded(self, origin: int) -> tuple[str, Arguments]:
        """The action and its arguments, which are the digits of a mixed-radix number."""
        assert origin >> ROW_SHIFT == 0
        action = self.model.actions[origin >> ACTION_SHIFT]
        digits = origin & ((1 << ACTION_SHIFT) - 1)
        arguments: list[int] = []
        for parameter in reversed(action.parameters):
            digits, value = divmod(digits, self.model.layout.sizes[parameter.over])
            arguments.insert(0, value)
        assert digits == 0
        return action.name, tuple(arguments)


@dataclass
class Interpreted:
    """What one state leads to and which claims it breaks, or what was raised on the way."""

    steps: list[Step] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    broken: list[bool] = field(default_factory=list)
    happened: list[bool] = field(default_factory=list)
    unkept: list[bool] = field(default_factory=list)
    raised: list[ValueError] = field(default_factory=list)

    @property
    def successors(self) -> list[Successor]:
        return [(step.action.name, step.arguments, step.after.words) for step in self.steps]


def stepped(model: Model, state: State) -> Interpreted:
    """Every step, one by one; the same as `Model.successors` where nothing is raised."""
    found = Interpreted(cut=[0] * len(model.limits))
    for action in model.enabled_actions:
        for arguments in model.bindings(action):
            try:
                if model.is_enabled(state, action, arguments):
                    if exceeded := model.exceeded_limit(state, action, arguments):
                        found.cut[exceeded] += 1
                    else:
                        after = model.apply(state, action, arguments)
                        found.steps.append(Step(action, arguments, after, after))
            except ValueError as error:
                found.raised.append(error)
    if not found.raised:
        found.happened = [
            any(claim.happens(state, step.after, model.settings) for step in found.steps)
            for claim in reachable.ALL
        ]
        found.unkept = [
            not all(claim.keeps(state, step.after, model.settings) for step in found.steps)
            for claim in PROPERTIES
        ]
    return found


def judged(model: Model, state: State) -> Interpreted:
    """Every claim that applies; one that does not is never broken, nor one that raises."""
    found = Interpreted()
    for claim in invariants.ALL:
        broken = False
        if claim.applies(model.settings):
            try:
                broken = not claim.holds(state, model.settings)
            except ValueError as error:
                found.raised.append(error)
        found.broken.append(broken)
    return found


def assert_same_steps(compiled: Compiled, state: State, expected: Interpreted) -> None:
    successors, tally = compiled.expand(state)
    fired = [step.action.name for step in expected.steps]
    stuck = not expected.steps and not any(expected.cut)

    assert successors == expected.successors
    assert tally.fired.tolist() == [fired.count(a.name) for a in compiled.model.actions]
    assert tally.cut.sum(axis=0).tolist() == expected.cut
    assert tally.happened.tolist() == expected.happened
    assert tally.breaches.broken.tolist() == expected.unkept
    assert set(tally.breaches.as_dict().values()) <= {state.words}
    assert tally.deadlock == (state.words if stuck else None)
    assert not tally.faults


def assert_same_verdicts(compiled: Compiled, state: State, expected: Interpreted) -> None:
    findings = compiled.inspect(state)

    assert findings.broken.tolist() == expected.broken
    assert set(findings.as_dict().values()) <= {state.words}
    assert not findings.faults
