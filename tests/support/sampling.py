"""Samples of many cases for the fast tier; `tests/verify` takes all of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

Case = TypeVar("Case")
_SEED = 20_261_128


def covering_pairs(
    cases: Sequence[Case], features: Callable[[Case], Mapping[str, Hashable]]
) -> list[Case]:
    """Few of these cases, in their order, that have every pair of feature values that all have.

    Greedy: each takes as many new pairs as any. A fixed seed decides between equals.
    """
    pairs = [_pairs(features(case)) for case in cases]
    order = list(range(len(cases)))
    random.Random(_SEED).shuffle(order)
    missing = set[object]().union(*pairs)
    taken: list[int] = []
    while missing:
        best = max(order, key=lambda number: len(pairs[number] & missing))
        taken.append(best)
        missing -= pairs[best]
    return [cases[number] for number in sorted(taken)]


def drawn(cases: Iterable[Case], count: int) -> list[Case]:
    """So many of these cases, drawn by a fixed seed, in their order."""
    listed = list(cases)
    numbers = random.Random(_SEED).sample(range(len(listed)), min(count, len(listed)))
    return [listed[number] for number in sorted(numbers)]


def _pairs(features: Mapping[str, Hashable]) -> set[object]:
    values = sorted(features.items(), key=lambda item: item[0])
    return {frozenset(pair) for pair in combinations(values, 2)} or {frozenset(values)}
