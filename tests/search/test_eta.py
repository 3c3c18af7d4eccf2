"""What is said of the rest of a search, held against the recorded levels of real ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from waterline.checker.search.account import LONG, SHORT
from waterline.checker.search.eta import outlook, remaining
from waterline.checker.search.result import LevelSummary

RECORDED = json.loads((Path(__file__).parents[1] / "golden" / "levels.json").read_text())
"""Sizes of the levels of complete runs, by the options of `check`."""


def levels(sizes: list[int], seconds: float = 1.0) -> list[LevelSummary]:
    return [LevelSummary(depth, n, "local", seconds) for depth, n in enumerate(sizes)]


def told(sizes: list[int]) -> list[tuple[float, float]]:
    """After each level for which there is an estimate: the part seen, the estimate by the truth."""
    total = sum(sizes)
    return [
        (sum(sizes[:count]) / total, estimate.states / total)
        for count in range(1, len(sizes) + 1)
        if (estimate := outlook(levels(sizes[:count])))
    ]


@pytest.mark.parametrize("sizes", RECORDED.values(), ids=RECORDED)
def test_the_number_of_states_is_told_as_well_as_the_module_says(sizes: list[int]) -> None:
    estimates = told(sizes)

    assert 0.05 <= estimates[0][0] <= 0.65
    assert 0.79 <= round(estimates[0][1], 2) <= 1.09
    assert all(0.69 <= round(by, 2) <= 1.09 for _, by in estimates)
    assert all(0.81 <= round(by, 2) <= 1.07 for seen, by in estimates if seen >= 0.5)
    assert estimates[-1][1] == pytest.approx(1, abs=0.01)


def test_nothing_is_said_while_the_factor_does_not_fall() -> None:
    assert outlook(levels([2**depth for depth in range(40)])) is None
    assert outlook(levels([1] * 40)) is None
    assert outlook([]) is None


def test_nothing_is_said_before_there_are_enough_levels() -> None:
    sizes = RECORDED["--protocol hw"]

    assert outlook(levels(sizes[:LONG])) is None
    assert remaining(sizes[:SHORT], SHORT) is None


def test_a_bell_is_foreseen_before_its_top() -> None:
    """Factors that fall by the same part at each level are what is assumed."""
    bell = [round(1e6 * 0.98 ** (depth - 30) ** 2) or 1 for depth in range(61)]

    estimate = outlook(levels(bell[:26]))

    assert estimate is not None
    assert estimate.states == pytest.approx(sum(bell), rel=0.01)


def test_the_time_left_is_that_of_the_states_left_at_the_latest_speed() -> None:
    sizes = RECORDED["--protocol epoch --replicas 3"][:40]
    estimate = outlook(levels(sizes, seconds=2.0))

    assert estimate is not None
    rate = sum(sizes[-SHORT:]) / (2.0 * SHORT)
    assert estimate.seconds == pytest.approx((estimate.states - sum(sizes)) / rate)


def test_where_no_level_was_timed_there_is_no_time() -> None:
    estimate = outlook(levels(RECORDED["--protocol epoch --replicas 3"][:40], seconds=0.0))

    assert estimate is not None
    assert estimate.seconds is None
