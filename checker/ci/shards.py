"""Shards of a gate: which of its expectations one of several machines runs."""

from __future__ import annotations

from collections.abc import Sequence

from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.searches import searches_of


def shard(expectations: Sequence[Expectation], number: int, of: int) -> list[Expectation]:
    """Shard `number`, from 1, of so many; expectations that share a search stay together."""
    chosen = {n for search in searches_of(expectations)[number - 1 :: of] for n in search.answers}
    return [each for place, each in enumerate(expectations) if place in chosen]
