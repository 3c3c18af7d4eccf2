"""Of many ways into the states of a level the least is kept: parent first, then action."""

from __future__ import annotations

import numpy as np
import pytest

from waterline.checker.compiler.origins import ROW_SHIFT
from waterline.checker.storage.arrivals import LeastArrivals
from waterline.checker.storage.runs import sort_unique


def rows(draw: np.random.Generator, count: int, words: int, below: int) -> np.ndarray:
    return draw.integers(0, below, (count, words)).astype(np.uint64)


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 5, 3000])
def test_the_least_way_is_kept_in_whatever_order_ways_are_offered(words: int, size: int) -> None:
    """Few parents and few actions, so that ties are the rule; many targets are in no level."""
    draw = np.random.default_rng(size + words)
    level = sort_unique(rows(draw, size, words, 60))
    found = LeastArrivals(level)
    expected: dict[tuple[int, ...], tuple[tuple[int, ...], int]] = {}
    for _ in range(20):
        sources, targets = rows(draw, 4, words, 2), rows(draw, 2000, words, 70)
        froms = draw.integers(0, len(sources), len(targets))
        codes = draw.integers(0, 5, len(targets))
        found.offer(targets, froms << ROW_SHIFT | codes, len(targets), sources)
        for target, source, code in zip(targets, froms, codes, strict=True):
            way = (tuple(map(int, sources[source])), int(code))
            known = expected.setdefault(tuple(map(int, target)), way)
            expected[tuple(map(int, target))] = min(known, way)

    for state, parent, code in zip(level, found.parents, found.steps, strict=True):
        way = expected.get(tuple(map(int, state)))
        assert (None if code < 0 else (tuple(map(int, parent)), int(code))) == way


def test_what_nothing_leads_to_has_no_way() -> None:
    level = np.array([[7]], np.uint64)
    found = LeastArrivals(level)
    found.offer(np.array([[6]], np.uint64), np.array([3]), 1, level)

    assert found.steps.tolist() == [-1]


def test_only_as_many_as_are_given_are_offered() -> None:
    level = np.array([[7]], np.uint64)
    found = LeastArrivals(level)
    found.offer(np.array([[7], [7]], np.uint64), np.array([3, 2]), 1, level)

    assert found.steps.tolist() == [3]
