"""Compiled, an action or a claim means what it means interpreted: the same successors and verdicts.

On every reachable state of small bounds, and on states that no run reaches, with every field at any
value of its range. There a step may leave a range: interpreted it raises, compiled it raises the
state's fault flag. Compiled code looks neither for a row that is not alive nor for a shift by a
negative number: the first never happens; a state in which a step does the second is passed over,
and a claim that does is not asked for in that state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from states import model_of, packed
from untrue import EVERY_HW

import invariants
from checker.compiled.expander import Expander, Findings, Tally, words_of
from checker.compiled.kernel import ACTION_SHIFT, ROW_SHIFT
from checker.problem import Problem
from invariants import reachable
from model.features import ELR, has
from model.layout import Field
from model.state import NotAlive, OutOfRange, State
from model.terms import FETCHING, LEADER, NO_RECORD, NO_ROLE
from model.transition_system import Arguments, Model, Step

Successor = tuple[str, Arguments, tuple[int, ...]]


PROPERTIES = (*invariants.PROPERTIES, EVERY_HW)


class Compiled:
    """A model's compiled kernels, given one state at a time; of claims, those not `passed_over`."""

    def __init__(self, model: Model, *, passed_over: frozenset[str] = frozenset()) -> None:
        self.model = model
        asked = frozenset(claim.name for claim in (*invariants.ALL, *PROPERTIES)) - passed_over
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
                (*self._decoded(int(origin)), words_of(row))
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
    passed_over: set[str] = field(default_factory=set)

    @property
    def successors(self) -> list[Successor]:
        return [(step.action.name, step.arguments, step.after.words) for step in self.steps]

    @property
    def undefined(self) -> bool:
        """Whether something was raised that compiled code does not look for."""
        return any(not isinstance(error, OutOfRange) for error in self.raised)

    @property
    def faulted(self) -> bool:
        """Whether something was raised that compiled code does look for."""
        return any(isinstance(error, OutOfRange) for error in self.raised)


def stepped(model: Model, state: State) -> Interpreted:
    """Every step, one by one; the same as `Model.successors` where nothing is raised."""
    found = Interpreted(cut=[0] * len(model.limits))
    for action in model.enabled_actions:
        for arguments in model.bindings(action):
            try:
                if model.is_enabled(state, action, arguments):
                    if exceeded := model.exceeded(state, action, arguments):
                        found.cut[exceeded] += 1
                    else:
                        after = model.apply(state, action, arguments)
                        found.steps.append(Step(action, arguments, after))
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
            except OutOfRange as error:
                found.raised.append(error)
            except ValueError as error:
                found.raised.append(error)
                found.passed_over.add(claim.name)
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


def walk(model: Model) -> Iterator[tuple[State, Interpreted]]:
    """Every reachable state with its steps, breadth first."""
    seen = set(model.initial)
    level = list(model.initial)
    while level:
        following: list[State] = []
        for state in level:
            found = stepped(model, state)
            yield state, found
            new = {step.after: None for step in found.steps if step.after not in seen}
            following += new
            seen.update(new)
        level = following


SMALL = {"replicas": 2, "records": 1, "epochs": 2}
SPACES: list[tuple[str, dict[str, Any], int]] = [
    ("as documented", {"restarts": 2, "moves": 1}, 9764),
    ("parked fetches", {"parked_fetches": True}, 500),
    ("unclean election", {"unclean_leader_election": True}, 500),
    ("high watermark before the fetch", {"hw_in_response": "pre"}, 500),
    ("acks=1", {"acks": "1"}, 500),
    ("acks=0", {"acks": "0"}, 500),
    ("min.insync.replicas=2", {"min_insync_replicas": 2}, 500),
    ("any restart unnoticed", {"restart_detection": "any"}, 500),
]


@pytest.mark.parametrize("version", ["hw", "epoch"])
@pytest.mark.parametrize(
    ("options", "least"),
    [
        pytest.param(*space[1:], id=space[0], marks=[pytest.mark.slow] * (space[2] > 5000))
        for space in SPACES
    ],
)
def test_every_reachable_state_has_the_same_successors_and_verdicts(
    version: str, options: dict[str, Any], least: int
) -> None:
    model = model_of(version, **SMALL | {"restarts": 1} | options)
    compiled = Compiled(model)
    states = 0
    for state, found in walk(model):
        assert not found.raised
        assert_same_steps(compiled, state, found)
        assert_same_verdicts(compiled, state, judged(model, state))
        states += 1

    assert states >= least


FAMILY: list[tuple[str, dict[str, Any], set[str], int]] = [
    (
        "kip320",
        {"restarts": 1, "moves": 1, "requests_survive": True},
        {"StrayFetch", "LoseStray"},
        6400,
    ),
    (
        "elr",
        {"power_losses": 1, "shutdowns": 1, "min_insync_replicas": 2},
        {"AlterPartition", "PowerLoss", "BeginShutdown", "Stop"},
        8703,
    ),
    (
        "truncate-on-fetch",
        {"moves": 2, "late_metadata": True},
        {"LearnLate", "RecvDiverging"},
        1336,
    ),
    (
        "kraft",
        {"lost_disks": 1, "session_expiries": 1},
        {"DiskLoss", "SessionExpiry", "Register", "AlterPartition"},
        7249,
    ),
    (
        "kip320",
        {"restarts": 1, "consumer": True, "unclean_leader_election": True},
        {"Consume"},
        1002,
    ),
]


@pytest.mark.parametrize(
    ("version", "options", "new", "count"),
    [
        pytest.param(
            *space, id=f"{space[0]} {min(space[2])}", marks=[pytest.mark.slow] * (space[3] > 5000)
        )
        for space in FAMILY
    ],
)
def test_every_reachable_state_of_the_family_has_the_same_successors_and_verdicts(
    version: str, options: dict[str, Any], new: set[str], count: int
) -> None:
    """`new` are the steps that the space is about, all of which happen in it."""
    model = model_of(version, **SMALL | {"restarts": 0} | options)
    compiled = Compiled(model)
    fired: set[str] = set()
    states = 0
    for state, found in walk(model):
        assert not found.raised
        assert_same_steps(compiled, state, found)
        assert_same_verdicts(compiled, state, judged(model, state))
        fired.update(step.action.name for step in found.steps)
        states += 1

    assert states == count
    assert new <= fired


def test_the_steps_compared_are_those_that_the_model_offers() -> None:
    model = model_of("epoch", **SMALL, restarts=1)
    for state, found in walk(model):
        assert found.steps == list(model.successors(state))


class AnyState:
    """States with every field anywhere in its range, often at an end of it, roles first.

    A `tidy` one has logs without holes, of records that were produced, and brokers that know the
    epoch and the leader: no more reachable, but fewer of its steps leave a range. Under ELR whoever
    has a role is up: a restart reads what only a broker without one keeps.
    """

    def __init__(self, model: Model, seed: int) -> None:
        self.layout = model.layout
        self.role_means_up = has(model.settings, ELR)
        self.random = np.random.default_rng(seed)

    def drawn(self, *, tidy: bool) -> State:
        values: dict[str, Any] = {
            f.name: self._element(f, tidy=tidy) for f in self.layout.fields if not f.shape
        }
        roles = self.random.integers(NO_ROLE, FETCHING + 1, self.layout.sizes["replicas"]).tolist()
        values["role"] = roles
        if tidy and LEADER in roles:
            values["leader"] = roles.index(LEADER)
        for declared in self.layout.fields:
            if declared.shape and declared.name != "role":
                values[declared.name] = self._rows(declared, values, tidy=tidy)
        return packed(self.layout, values)

    def _rows(self, declared: Field, values: dict[str, Any], *, tidy: bool) -> list[Any]:
        rows: list[Any] = []
        for row in range(declared.shape[0]):
            alive = declared.alive is None or values["role"][row] in declared.alive.values
            columns = declared.shape[1] if len(declared.shape) == 2 else 0
            if not alive:
                rows.append(None)
            elif self.role_means_up and declared.name == "up" and values["role"][row] != NO_ROLE:
                rows.append(1)
            elif tidy and declared.name == "known_epoch":
                rows.append(values["epoch"])
            elif tidy and declared.name == "log":
                records = self.random.integers(1, max(2, values["produced"] + 1), columns).tolist()
                rows.append(
                    [r if o < values["leo"][row] else NO_RECORD for o, r in enumerate(records)]
                )
            elif columns:
                rows.append([self._element(declared, tidy=tidy) for _ in range(columns)])
            else:
                rows.append(self._element(declared, tidy=tidy))
        return rows

    def _element(self, declared: Field, *, tidy: bool) -> int:
        low = 1 if tidy and declared.name == "produced" else declared.lo
        uniform = int(self.random.integers(low, declared.hi + 1))
        return int(self.random.choice([low, declared.hi, uniform]))


LARGER = {"replicas": 3, "records": 2, "epochs": 2}
"""Two words a state, and fields whose rows lie in both."""


EVERYTHING: dict[str, dict[str, Any]] = {
    "epoch": {"moves": 1, "parked_fetches": True, "unclean_leader_election": True},
    "elr": {
        "moves": 1,
        "parked_fetches": True,
        "unclean_leader_election": True,
        "requests_survive": True,
        "late_metadata": True,
        "consumer": True,
        "power_losses": 2,
        "lost_disks": 2,
        "lost_checkpoints": 1,
        "session_expiries": 2,
        "shutdowns": 2,
    },
}
"""Settings of a version in which all its steps can happen."""


@pytest.mark.parametrize("version", EVERYTHING)
@pytest.mark.parametrize(("tidy", "seed"), [(True, 1), (False, 2)], ids=["tidy", "wild"])
def test_any_state_has_the_same_successors_unless_a_step_leaves_a_range(
    tidy: bool, seed: int, version: str
) -> None:
    model = model_of(version, **LARGER, **EVERYTHING[version])
    compiled, states = Compiled(model), AnyState(model, seed)
    same = faulted = 0
    for _ in range(500):
        state = states.drawn(tidy=tidy)
        expected = stepped(model, state)
        if expected.undefined:
            continue
        if expected.raised:
            successors, tally = compiled.expand(state)
            assert (successors, tally.faults) == ([], [state.words])
            faulted += 1
        else:
            assert_same_steps(compiled, state, expected)
            same += 1

    assert same > 50
    assert faulted > 50


@pytest.mark.parametrize(("tidy", "seed"), [(True, 3), (False, 4)], ids=["tidy", "wild"])
def test_any_state_has_the_same_verdicts_unless_a_claim_leaves_a_range(
    tidy: bool, seed: int
) -> None:
    """Of a version and settings in which every claim applies."""
    model = model_of("elr", **LARGER, consumer=True)
    states = AnyState(model, seed)
    compiled: dict[frozenset[str], Compiled] = {}
    verdicts: list[list[bool]] = []
    faulted = 0
    for _ in range(1500):
        state = states.drawn(tidy=tidy)
        expected = judged(model, state)
        passed_over = frozenset(expected.passed_over)
        asked = compiled.setdefault(passed_over, Compiled(model, passed_over=passed_over))
        if expected.faulted:
            assert asked.inspect(state).faults == [state.words]
            faulted += 1
        else:
            assert_same_verdicts(asked, state, expected)
            verdicts.append(expected.broken)

    assert len(verdicts) > 100
    assert tidy or faulted > 100
    assert all(claim.applies(model.settings) for claim in invariants.ALL)
    if tidy:
        assert all({True, False} == set(column) for column in zip(*verdicts, strict=True))


@pytest.mark.parametrize("version", EVERYTHING)
@pytest.mark.parametrize(("tidy", "seed"), [(True, 5), (False, 6)], ids=["tidy", "wild"])
def test_no_step_or_claim_touches_a_row_that_is_not_alive(
    tidy: bool, seed: int, version: str
) -> None:
    model = model_of(version, **LARGER, **EVERYTHING[version])
    states = AnyState(model, seed)
    raised: list[ValueError] = []
    for _ in range(300):
        state = states.drawn(tidy=tidy)
        raised += stepped(model, state).raised + judged(model, state).raised

    assert raised
    assert not [error for error in raised if isinstance(error, NotAlive)]
