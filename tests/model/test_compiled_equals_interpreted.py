"""Compiled, an action or a claim means what it means interpreted: the same successors and verdicts.

On reachable states of small bounds, some of them here and more in tests/verify, and on states that
no run reaches, with every field at any value of its range. There a step may leave a range, or shift
by a negative number: interpreted it raises, compiled it raises the state's fault flag. Compiled
code does not look for a row that is not alive, which never happens.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.support.any_states import AnyState
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
from tests.support.sampling import covering_pairs, drawn
from tests.support.states import model_of
from waterline import invariants
from waterline.checker.compiler.origins import ROW_SHIFT
from waterline.checker.problem.packed_rows import state_words
from waterline.checker.search.engines.expander import Expander, Findings, Tally
from waterline.model.core.state import NotAlive, State
from waterline.model.core.transition_system import Model

ENOUGH = 4000
"""After a level with which it has so many states a walk ends: each takes a millisecond."""
FEW, SOME = 120, 1500
"""So many states are compared, from all over a space that compiled code has explored whole."""


def walk(model: Model, enough: int = ENOUGH) -> Iterator[tuple[State, Interpreted]]:
    """Every state with its steps, breadth first, of whole levels up to the one with enough."""
    seen = set(model.initial)
    level = list(model.initial)
    given = 0
    while level and given < enough:
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


WALKED = [(version, *space) for version in ("hw", "epoch") for space in SPACES]


def walked_both_ways(version: str, options: dict[str, Any], enough: int) -> int:
    """How many states were compared on a walk that has so many."""
    model = model_of(version, **SMALL | {"restarts": 1} | options)
    compiled = Compiled(model)
    states = 0
    for state, found in walk(model, enough):
        assert not found.raised
        assert_same_steps(compiled, state, found)
        assert_same_verdicts(compiled, state, judged(model, state))
        states += 1
    return states


@pytest.mark.parametrize(("version", "name", "options", "least"), drawn(WALKED, 4))
def test_the_first_states_have_the_same_successors_and_verdicts(
    version: str, name: str, options: dict[str, Any], least: int
) -> None:
    assert walked_both_ways(version, options, FEW) >= FEW


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


def compared_all_over(version: str, options: dict[str, Any], most: int) -> tuple[int, set[str]]:
    """At most so many reachable states, from all over: how many there are, the steps taken."""
    model = model_of(version, **SMALL | {"restarts": 0} | options)
    compiled = Compiled(model)
    fired: set[str] = set()
    reached = reachable_states(compiled.problem)
    for state in random.Random(version).sample(reached, min(len(reached), most)):
        found = stepped(model, state)
        assert not found.raised
        assert_same_steps(compiled, state, found)
        assert_same_verdicts(compiled, state, judged(model, state))
        fired.update(step.action.name for step in found.steps)
    return len(reached), fired


SMALLEST = [space for space in FAMILY if space[3] < 5000]


@pytest.mark.parametrize(
    ("version", "options", "new", "count"),
    [
        pytest.param(*space, id=f"{space[0]} {space[3]}")
        for space in covering_pairs(SMALLEST, lambda space: {"version": space[0]})
    ],
)
def test_some_states_of_the_family_have_the_same_successors_and_verdicts(
    version: str, options: dict[str, Any], new: set[str], count: int
) -> None:
    reached, fired = compared_all_over(version, options, FEW)

    assert reached == count
    assert new & fired


def test_the_steps_compared_are_those_that_the_model_offers() -> None:
    model = model_of("epoch", **SMALL, restarts=1)
    for state, found in walk(model, FEW):
        assert found.steps == list(model.successors(state))


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


EITHER = pytest.mark.parametrize("tidy", [True, False], ids=["tidy", "wild"])


def steps_of_any_state(version: str, most: int, *, tidy: bool) -> tuple[int, int]:
    """How many of so many states had the same steps both ways, and left a range both ways."""
    model = model_of(version, **LARGER, **EVERYTHING[version])
    compiled, states = Compiled(model), AnyState(model, 1 if tidy else 2)
    same = faulted = 0
    for _ in range(most):
        state = states.drawn(tidy=tidy)
        expected = stepped(model, state)
        if expected.raised:
            successors, tally = compiled.expand(state)
            assert (successors, tally.faults) == ([], [state.words])
            faulted += 1
        else:
            assert_same_steps(compiled, state, expected)
            same += 1
    return same, faulted


@EITHER
def test_any_state_has_the_same_successors_unless_a_step_leaves_a_range(tidy: bool) -> None:
    same, faulted = steps_of_any_state("epoch", 200, tidy=tidy)

    assert same > 10
    assert faulted > 10


ALL_CLAIMS = ("elr", "kip320-code")
"""Versions under which, with a consumer, every claim applies to one or the other."""


def verdicts_on_any_state(
    version: str, most: int, *, tidy: bool
) -> tuple[list[tuple[bool, ...]], int]:
    """Of so many states, by claim: which break it, both ways; and how many leave a range."""
    model = model_of(version, **LARGER, consumer=True)
    states = AnyState(model, 3 if tidy else 4)
    compiled = Compiled(model)
    verdicts: list[list[bool]] = []
    faulted = 0
    for _ in range(most):
        state = states.drawn(tidy=tidy)
        expected = judged(model, state)
        if expected.raised:
            assert compiled.inspect(state).faults == [state.words]
            faulted += 1
        else:
            assert_same_verdicts(compiled, state, expected)
            verdicts.append(expected.broken)
    return list(zip(*verdicts, strict=True)), faulted


@EITHER
def test_any_state_has_the_same_verdicts_unless_a_claim_leaves_a_range(tidy: bool) -> None:
    verdicts, faulted = verdicts_on_any_state("kip320-code", 150, tidy=tidy)

    assert len(verdicts[0]) > 10
    assert tidy or faulted > 10


def test_every_claim_applies_to_one_of_the_versions_whose_verdicts_are_compared() -> None:
    settings = [model_of(version, **LARGER, consumer=True).settings for version in ALL_CLAIMS]

    assert all(any(claim.applies(each) for each in settings) for claim in invariants.ALL)


def assert_rows_that_are_not_alive_stay_untouched(version: str, most: int, *, tidy: bool) -> None:
    model = model_of(version, **LARGER, **EVERYTHING[version])
    states = AnyState(model, 5 if tidy else 6)
    raised: list[ValueError] = []
    for _ in range(most):
        state = states.drawn(tidy=tidy)
        raised += stepped(model, state).raised + judged(model, state).raised

    assert raised
    assert not [error for error in raised if isinstance(error, NotAlive)]


@pytest.mark.parametrize("version", EVERYTHING)
@EITHER
def test_no_step_or_claim_touches_a_row_that_is_not_alive(tidy: bool, version: str) -> None:
    assert_rows_that_are_not_alive_stay_untouched(version, 50, tidy=tidy)


def assert_a_block_is_worked_out_as_its_states(version: str, *, tidy: bool) -> None:
    """States are asked many at a time; those that step out of a range are found among them."""
    model = model_of(version, **LARGER, **EVERYTHING[version])
    compiled, any_state = Compiled(model), AnyState(model, 7 if tidy else 8)
    states = [any_state.drawn(tidy=tidy) for _ in range(250)]
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
    assert len(faulting) >= 20
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


@EITHER
def test_states_of_a_block_are_worked_out_as_each_of_them_alone(tidy: bool) -> None:
    assert_a_block_is_worked_out_as_its_states("epoch", tidy=tidy)


def assert_a_block_adds_up(most: int) -> None:
    """Of reachable states, none of which faults: counts, least violations, least dead ends."""
    model = model_of("elr", **SMALL, restarts=1, moves=1)
    compiled = Compiled(model)
    states = [state for state, _ in walk(model, most)]
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

    assert len(states) > most // 4
    assert successors == total.fired.sum()
    assert tally.fired.tolist() == total.fired.tolist()
    assert tally.cut.tolist() == total.cut.tolist()
    assert tally.happened.tolist() == total.happened.tolist()
    assert tally.deadlock == total.deadlock
    assert tally.breaches.as_dict() == total.breaches.as_dict()
    assert findings.as_dict() == one_by_one.as_dict()


def test_what_a_block_adds_up_to_is_what_its_states_do() -> None:
    assert_a_block_adds_up(FEW)
