"""Searches of a gate come to the same in processes side by side."""

from __future__ import annotations

from pathlib import Path

from tests.ci.test_searching import OTHERS, TWO, cache, facts
from tests.support.gate_texts import SMALL, entry, read
from waterline.checker.ci.searching import Manner, judge_all

__all__ = ["cache"]


def test_side_by_side_comes_to_what_one_after_the_other_does(cache: Path) -> None:
    text = TWO + OTHERS + entry("hw", SMALL).replace('"epoch"', '"hw"')
    expectations = read(text)
    begun: list[str] = []
    side = judge_all(expectations, Manner(processes=2, uses_kept=False, begin=begun.append))
    alone = judge_all(expectations, Manner(processes=1, uses_kept=False))

    assert facts(side) == facts(alone)
    assert len(facts(side)) == 4
    assert len(begun) == 3
