"""Compiled, an action or a claim means what it means interpreted: the same successors and verdicts.

On reachable states of small bounds, all or some of them, and on states that no run reaches, with
every field at any value of its range. There a step may leave a range, or shift by a negative
number: interpreted it raises, compiled it raises the state's fault flag. Compiled code does not
look for a row that is not alive, which never happens.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.support.both_ways import (
    Compiled,
    Interpreted,
    Successor,
    assert_same_steps,
    assert_same_verdicts,
    judged,
    stepped,
)
from tests.support.reached import reachable_states
from tests.support.states import model_of, packed
from waterline import invariants
from waterline.checker.compiler.origins import ROW_SHIFT
from waterline.checker.problem.packed_rows import state_words
from waterline.checker.search.engines.expander import Expander, Findings, Tally
from waterline.model.core.layout import Field
from waterline.model.core.state import NotAlive, State
from waterline.model.core.transition_system import Model
from waterline.model.message.features import ELR, has
from waterline.model.message.terms import FETCHING, LEADER, NO_RECORD, NO_ROLE

ENOUGH = 4000
"""After a level with which it has so many states a walk ends: each takes a millisecond."""
SOME = 1500
"""So many states are compared, from all over a space that compiled code has explored whole."""


def walk(model: Model) -> Iterator[tuple[State, Interpreted]]:
    """Every state with its steps, breadth first, of whole levels up to the one with enough."""
    seen = set(model.initial)
    level = list(model.initial)
    given = 0
    while level and given < ENOUGH:
        given += len(level)
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
    ("as documented", {"restarts": 2, "moves": 1}, 4000),
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


ZK = {"assigned": 1, "reassignments": 2}
TWO: dict[str, Any] = {"min_insync_replicas": 2}
MOVED: dict[str, Any] = {"directory_moves": 1, "future_log": True}
COPY = ("CopyFutureLog", "TruncateFutureLog", "PromoteFutureLog")
FAMILY: list[tuple[str, dict[str, Any], set[str], int]] = [
    (
        "kip320",
        {"restarts": 1, "moves": 1, "requests_survive": True},
        {"StrayFetch", "LoseStray"},
        6168,
    ),
    (
        "elr",
        {"power_losses": 1, "shutdowns": 1, "min_insync_replicas": 2},
        {"AlterPartition", "PowerLoss", "BeginShutdown", "Stop"},
        9207,
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
        7917,
    ),
    (
        "kip320",
        {"restarts": 1, "consumer": True, "unclean_leader_election": True},
        {"Consume"},
        948,
    ),
    (
        "kip320-code",
        {"records": 2, "moves": 4, "epochs": 4},
        {"OffsetForLeaderEpoch", "ShrinkIsr"},
        92_487,
    ),
    (
        "elr",
        {"restarts": 1, "late_answers": True, "unfenced_registration": True},
        {"HearAnswer", "Restart"},
        1122,
    ),
    (
        "elr-without-partition-epoch-check",
        {"restarts": 1, "late_answers": True, "late_replay": True},
        {"HearAnswer", "Replay"},
        2440,
    ),
    (
        "elr-with-last-known-leader",
        {"restarts": 2, "min_insync_replicas": 2},
        {"Crash", "Fence", "Restart"},
        4251,
    ),
    (
        "truncate-on-fetch",
        {"restarts": 1, "moves": 2, "directory_moves": 1},
        {"DirectoryMove", "RecvDiverging", "RecvOutOfRange"},
        17_406,
    ),
    ("kip279", {"restarts": 1, "moves": 1}, {"OffsetForLeaderEpoch", "Move"}, 3461),
    (
        "kip279-code",
        {"moves": 1, "power_losses": 1, "parked_fetches": True},
        {"PowerLoss", "WakeParked"},
        3352,
    ),
    (
        "kip903",
        {"restarts": 1, "lost_checkpoints": 1, "acks": "1"},
        {"CheckpointLoss", "AlterPartition"},
        1777,
    ),
    ("elr", {"replicas": 3, "epochs": 0}, {"AlterPartition", "ShrinkIsr", "ShrinkTogether"}, 4539),
    (
        "elr",
        {"restarts": 1, "caught_up_wait": True},
        {"LagTimePasses", "LearnBrokers"},
        1586,
    ),
    ("kraft", {"replicas": 3, "epochs": 1}, {"AlterPartition", "Learn"}, 19_509),
    (
        "truncate-on-fetch",
        {"replicas": 3, "epochs": 0, "lost_disks": 1},
        {"DiskLoss", "Fence", "Restart"},
        3785,
    ),
    ("epoch", {"replicas": 3, "epochs": 1, "moves": 1}, {"Move", "OffsetForLeaderEpoch"}, 33_960),
    (
        "elr-with-fresh-replicas",
        {"moves": 2, "late_booking": "by-replica"},
        {"CheckFetch", "BookFetch"},
        5800,
    ),
    (
        "kip320",
        {"restarts": 1, "moves": 2, "late_booking": "by-id", "parked_fetches": True},
        {"CheckFetch", "BookFetch", "WakeParked"},
        16_249,
    ),
    (
        "kip903",
        {"restarts": 1, "moves": 1, "late_booking": "by-epoch"},
        {"CheckFetch", "BookFetch", "Restart"},
        14_276,
    ),
    (
        "hw-with-keeps-waiting-producers",
        {"records": 2, "moves": 2},
        {"Move", "Learn", "LeaderFetch"},
        14_067,
    ),
    (
        "hw",
        {"replicas": 3, "epochs": 1, "restarts": 1, "election_order": "any"},
        {"Crash", "FenceAndElect"},
        53_271,
    ),
    ("elr", {"reassignments": 2, "min_insync_replicas": 2}, {"CancelReassignment", "Learn"}, 4509),
    (
        "kraft",
        {"replicas": 3, "reassignments": 1, "epochs": 1, "election_order": "any"},
        {"ReassignAndElect", "CancelReassignment"},
        116_641,
    ),
    ("kip320-with-alter-partition", ZK | {"moves": 1}, {"CancelReassignment", "Learn"}, 1889),
    ("hw", ZK, {"Reassign", "CompleteReassignment"}, 678),
    ("elr", {"taken_directories": 1, "shutdowns": 1}, {"DirectoryTaken", "Restart"}, 2416),
    ("elr", TWO | {"failed_directories": 1, "taken_directories": 1}, {"DirectoryFailure"}, 1501),
    ("elr", TWO | MOVED | {"restarts": 1}, {*COPY, "AssignDirectory", "Restart"}, 16_599),
    (
        "elr-with-last-known-leader",
        TWO | {"min_isr_writes": 1, "restarts": 1},
        {"WriteMinIsr"},
        2416,
    ),
    ("kip903", {"reassignments": 2, "late_booking": "by-replica"}, {"BookFetch"}, 21_705),
    ("elr", {"reassignments": 1, "caught_up_wait": True}, {"Learn", "Reassign"}, 579),
    ("fluss-0.9", {"epochs": 2, "restarts": 1, "moves": 1}, {"Restart", "RecvOutOfRange"}, 4111),
]


@pytest.mark.parametrize(
    ("version", "options", "new", "count"),
    [pytest.param(*space, id=f"{space[0]} {space[3]}") for space in FAMILY],
)
def test_reachable_states_of_the_family_have_the_same_successors_and_verdicts(
    version: str, options: dict[str, Any], new: set[str], count: int
) -> None:
    """`new` are the steps that the space is about, all of which happen in it."""
    model = model_of(version, **SMALL | {"restarts": 0} | options)
    compiled = Compiled(model)
    fired: set[str] = set()
    reached = reachable_states(compiled.problem)
    for state in random.Random(version).sample(reached, min(len(reached), SOME)):
        found = stepped(model, state)
        assert not found.raised
        assert_same_steps(compiled, state, found)
        assert_same_verdicts(compiled, state, judged(model, state))
        fired.update(step.action.name for step in found.steps)

    assert len(reached) == count
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
        self.random = random.Random(seed)

    def drawn(self, *, tidy: bool) -> State:
        values: dict[str, Any] = {
            f.name: self._element(f, tidy=tidy) for f in self.layout.fields if not f.shape
        }
        roles = [
            self.random.randint(NO_ROLE, FETCHING) for _ in range(self.layout.sizes["replicas"])
        ]
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
                born = max(1, values["produced"])
                records = [self.random.randint(1, born) for _ in range(columns)]
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
        return self.random.choice([low, declared.hi, self.random.randint(low, declared.hi)])


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
        "directory_moves": 2,
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
        if expected.raised:
            successors, tally = compiled.expand(state)
            assert (successors, tally.faults) == ([], [state.words])
            faulted += 1
        else:
            assert_same_steps(compiled, state, expected)
            same += 1

    assert same > 50
    assert faulted > 50


ALL_CLAIMS = ("elr", "kip320-code")
"""Versions under which, with a consumer, every claim applies to one or the other."""
SELDOM_BROKEN = {"no_endless_question"}
"""Not by states drawn at random; by reachable ones of kip320-code, above."""


@pytest.mark.parametrize("version", ALL_CLAIMS)
@pytest.mark.parametrize(("tidy", "seed"), [(True, 3), (False, 4)], ids=["tidy", "wild"])
def test_any_state_has_the_same_verdicts_unless_a_claim_leaves_a_range(
    tidy: bool, seed: int, version: str
) -> None:
    model = model_of(version, **LARGER, consumer=True)
    states = AnyState(model, seed)
    compiled = Compiled(model)
    verdicts: list[list[bool]] = []
    faulted = 0
    for _ in range(900):
        state = states.drawn(tidy=tidy)
        expected = judged(model, state)
        if expected.raised:
            assert compiled.inspect(state).faults == [state.words]
            faulted += 1
        else:
            assert_same_verdicts(compiled, state, expected)
            verdicts.append(expected.broken)

    assert len(verdicts) > 60
    assert tidy or faulted > 60
    if tidy:
        for claim, broken in zip(invariants.ALL, zip(*verdicts, strict=True), strict=True):
            if claim.name not in SELDOM_BROKEN:
                seen = {True, False} if claim.applies(model.settings) else {False}
                assert set(broken) == seen, claim.name


def test_every_claim_applies_to_one_of_the_versions_whose_verdicts_are_compared() -> None:
    settings = [model_of(version, **LARGER, consumer=True).settings for version in ALL_CLAIMS]

    assert all(any(claim.applies(each) for each in settings) for claim in invariants.ALL)


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


@pytest.mark.parametrize("version", EVERYTHING)
@pytest.mark.parametrize(("tidy", "seed"), [(True, 7), (False, 8)], ids=["tidy", "wild"])
def test_states_of_a_block_are_worked_out_as_each_of_them_alone(
    tidy: bool, seed: int, version: str
) -> None:
    """States are asked many at a time; those that step out of a range are found among them."""
    model = model_of(version, **LARGER, **EVERYTHING[version])
    compiled, drawn = Compiled(model), AnyState(model, seed)
    states = [drawn.drawn(tidy=tidy) for _ in range(250)]
    alone = [compiled.expand(state) for state in states]
    rows = np.array([state.words for state in states], np.uint64)
    expander = Expander(compiled.problem)
    tally, findings = Tally(compiled.problem), Findings(compiled.problem)
    found: list[tuple[int, Successor]] = []
    for count in expander.expand(rows, tally):
        for origin, after in zip(expander.origin[:count], expander.out[:count], strict=True):
            row, code = divmod(int(origin), 1 << ROW_SHIFT)
            found.append((row, (*compiled._decoded(code), state_words(after))))
    expander.inspect(rows, findings)
    one_by_one = [compiled.inspect(state) for state in states]
    order = [action.name for action in model.actions]

    faulting = {words for _, each in alone for words in each.faults}
    assert set(tally.faults) == faulting
    assert len(faulting) > 20
    fine = [row for row, (_, each) in enumerate(alone) if not each.faults]
    assert len(fine) > (20 if tidy else 0)
    for row in fine:
        steps = [step for at, step in found if at == row]
        steps.sort(key=lambda step: (order.index(step[0]), step[1]))
        assert steps == alone[row][0]
    dead = [each.deadlock for _, each in alone if each.deadlock is not None]
    assert faulting or tally.deadlock == min(dead, default=None)
    assert set(findings.faults) == {words for each in one_by_one for words in each.faults}
    assert all(
        findings.broken >= np.logical_or.reduce([f.broken for f in one_by_one if not f.faults])
    )


def test_what_a_block_adds_up_to_is_what_its_states_do() -> None:
    """Of reachable states, none of which faults: counts, least violations, least dead ends."""
    model = model_of("elr", **SMALL, restarts=1, moves=1)
    compiled = Compiled(model)
    states = [state for state, _ in walk(model)]
    alone = [compiled.expand(state)[1] for state in states]
    rows = np.array([state.words for state in states], np.uint64)
    tally, findings = Tally(compiled.problem), Findings(compiled.problem)
    expander = Expander(compiled.problem)
    successors = sum(expander.expand(rows, tally))
    expander.inspect(rows, findings)
    total = Tally(compiled.problem)
    for each in alone:
        total.add(each)
    one_by_one = Findings(compiled.problem)
    for state in states:
        one_by_one.add(compiled.inspect(state))

    assert len(states) > 1000
    assert successors == total.fired.sum()
    assert tally.fired.tolist() == total.fired.tolist()
    assert tally.cut.tolist() == total.cut.tolist()
    assert tally.happened.tolist() == total.happened.tolist()
    assert tally.deadlock == total.deadlock
    assert tally.breaches.as_dict() == total.breaches.as_dict()
    assert findings.as_dict() == one_by_one.as_dict()
