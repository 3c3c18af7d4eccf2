"""Counts and verdicts are those that TLC finds on the published TLA+ text of the same versions.

TLC counts states where this counts steps, so its depths and trace lengths are one more. Where two
disjuncts of one action are both true it counts a successor twice; `twice` is how often.
"""

from __future__ import annotations

from contextlib import closing
from functools import cache
from typing import NamedTuple

import pytest

from tests.support.atomic_states import EVERY_VERSION, cluster
from tests.support.walking import walk
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Result, Verdict
from waterline.checker.search.search import search
from waterline.invariants.atomic import ALL
from waterline.invariants.atomic.reachable import ALL as REACHABLE

WHOLE = {"type_ok", "elected_leader_in_isr"}
"""Hold everywhere. TLC cannot evaluate the published TypeOk: it compares a record with a number."""


class Row(NamedTuple):
    version: str
    bounds: tuple[int, int, int, int]
    distinct: int
    tlc_generated: int
    twice: int
    depth: int
    weak_isr: int | None
    strong_isr: int | None


PUBLISHED = [
    Row("hw", (2, 2, 2, 2), 10_131, 24_459, 0, 19, 8, 9),
    Row("epoch", (2, 2, 2, 2), 9_045, 21_447, 0, 17, 11, 11),
    Row("kip279", (2, 2, 2, 2), 9_027, 23_425, 1_548, 17, None, None),
    Row("kip320-first-try", (2, 2, 2, 2), 8_429, 19_387, 0, 17, None, None),
    Row("kip320", (2, 2, 2, 2), 5_973, 11_839, 106, 17, None, None),
]
LARGER = [
    Row("hw", (3, 2, 2, 2), 1_988_158, 7_491_589, 0, 27, 8, 8),
    Row("epoch", (3, 2, 2, 2), 1_613_089, 5_796_838, 0, 25, 10, 10),
    Row("kip279", (3, 2, 2, 2), 1_616_461, 6_718_690, 661_326, 25, 10, 10),
    Row("kip320-first-try", (3, 2, 2, 2), 1_437_076, 4_966_921, 0, 27, 11, 12),
    Row("kip320", (3, 2, 2, 2), 737_794, 1_967_560, 38_406, 25, None, None),
]
OTHER_BOUNDS = [
    Row("hw", (2, 2, 3, 1), 1_631, 3_427, 0, 16, None, None),
    Row("hw", (2, 2, 1, 3), 10_731, 27_241, 0, 17, None, None),
    Row("hw", (3, 1, 2, 2), 365_854, 1_228_912, 0, 24, None, None),
    Row("epoch", (2, 2, 3, 1), 1_541, 3_181, 0, 15, None, None),
    Row("epoch", (2, 2, 1, 3), 9_533, 24_469, 0, 16, None, None),
    Row("epoch", (3, 1, 2, 2), 315_136, 1_052_986, 0, 22, None, None),
    Row("kip279", (2, 2, 3, 1), 1_541, 3_451, 232, 15, None, None),
    Row("kip279", (2, 2, 1, 3), 9_533, 27_959, 3_490, 16, None, None),
    Row("kip279", (3, 1, 2, 2), 314_152, 1_266_010, 215_640, 22, None, None),
    Row("kip320-first-try", (2, 2, 3, 1), 1_611, 3_289, 0, 16, None, None),
    Row("kip320-first-try", (2, 2, 1, 3), 8_661, 21_557, 0, 16, None, None),
    Row("kip320-first-try", (3, 1, 2, 2), 340_021, 1_098_808, 0, 25, None, None),
    Row("kip320", (2, 2, 3, 1), 1_321, 2_511, 24, 15, None, None),
    Row("kip320", (2, 2, 1, 3), 5_513, 10_665, 64, 17, None, None),
    Row("kip320", (3, 1, 2, 2), 173_779, 435_787, 8_310, 22, None, None),
]
"""Replicas, log size, records, highest leader epoch: what TLC finds within other bounds.

The verdicts there are this checker's own, and not compared.
"""


@cache
def found(version: str, bounds: tuple[int, int, int, int]) -> Result:
    replicas, log_size, records, epochs = bounds
    model = cluster(version, replicas=replicas, log_size=log_size, records=records, epochs=epochs)
    problem = Problem(model, ALL, REACHABLE)
    with closing(MemoryEngine(problem)) as engine:
        return search(problem, engine)


def name(row: Row) -> str:
    return f"{row.version} {' '.join(map(str, row.bounds))}"


def assert_size_and_depth_are_those_of_tlc(row: Row) -> None:
    result = found(row.version, row.bounds)

    assert result.complete
    assert result.distinct == row.distinct
    assert result.generated + row.twice == row.tlc_generated
    assert result.depth == row.depth
    assert result.cut["log-size"] == 0 or row.bounds[1] < row.bounds[2]


@pytest.mark.parametrize("row", PUBLISHED, ids=name)
def test_the_space_has_the_size_and_depth_that_tlc_finds(row: Row) -> None:
    assert_size_and_depth_are_those_of_tlc(row)


def assert_claims_break_as_deep_as_with_tlc(row: Row) -> None:
    result = found(row.version, row.bounds)
    depths = {each.name: each.depth for each in result.invariants}

    assert {each.name for each in result.invariants if each.verdict is Verdict.HOLDS} >= WHOLE
    assert depths["weak_isr"] == row.weak_isr
    assert depths["strong_isr"] == row.strong_isr
    assert depths["leader_in_isr"] == 0


@pytest.mark.parametrize("row", PUBLISHED, ids=name)
def test_each_claim_is_first_broken_at_the_depth_that_tlc_finds(row: Row) -> None:
    assert_claims_break_as_deep_as_with_tlc(row)


@pytest.mark.parametrize("version", EVERY_VERSION)
def test_what_has_to_happen_for_a_verdict_to_mean_anything_happens(version: str) -> None:
    assert all(each.depth is not None for each in found(version, (2, 2, 2, 2)).reachable)


@pytest.mark.parametrize("version", EVERY_VERSION)
def test_every_action_of_a_version_happens(version: str) -> None:
    assert all(count > 0 for count in found(version, (2, 2, 2, 2)).fired.values())


def test_tlc_counts_a_follower_with_an_empty_log_twice_under_kip_279() -> None:
    """The text has a case for an empty log beside the general one, which gives the same offset."""
    model = cluster("kip279")
    twice = sum(
        step.action.name == "BecomeFollower" and state.leo[step.arguments[0]] == 0
        for state, steps in walk(model)
        for step in steps
    )

    assert twice == PUBLISHED[2].twice


def test_tlc_counts_a_follower_that_lags_for_two_reasons_twice_under_kip_320() -> None:
    """The text lets a leader drop a follower that is in another epoch, or that is behind."""
    model = cluster("kip320")
    twice = 0
    for state, steps in walk(model):
        for step in steps:
            if step.action.name == "ShrinkIsr":
                leader, follower = step.arguments
                behind = state.leo[follower] < state.leo[leader]
                twice += behind and state.known_epoch[follower] != state.known_epoch[leader]

    assert twice == PUBLISHED[4].twice


def test_three_replicas_take_one_word_and_two_take_less() -> None:
    two, three = (cluster("hw", replicas=replicas).layout for replicas in (2, 3))

    assert (two.bits, two.words) == (44, 1)
    assert (three.bits, three.words) == (62, 1)
