"""States in the order of arrival: each is kept once, with its owner."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.packed import Rows, blocks_of, hashed, listed
from waterline.checker.storage.arena import TooManyStates
from waterline.checker.storage.blocks import hashes, owner_of_each
from waterline.checker.storage.visited import Visited


@settings(max_examples=50, deadline=None)
@given(data=st.data(), words=st.integers(1, 4), owners=st.integers(1, 9))
def test_hashes_and_owners_are_what_they_are_in_plain_python(
    data: st.DataObject, words: int, owners: int
) -> None:
    rows = np.concatenate(data.draw(blocks_of((64,) * words)))
    expected = [hashed(row) for row in listed(rows)]

    assert hashes(rows).tolist() == expected
    assert owner_of_each(rows, owners).tolist() == [(h >> 32) * owners >> 32 for h in expected]


@settings(max_examples=50, deadline=None)
@given(data=st.data(), words=st.integers(1, 3))
def test_each_row_is_kept_once_with_its_owner_in_the_order_of_arrival(
    data: st.DataObject, words: int
) -> None:
    visited = Visited(words, 5)
    known: dict[tuple[int, ...], None] = {}
    for rows in data.draw(blocks_of((64,) * words)):
        visited.add(rows)
        known |= dict.fromkeys(listed(rows))

    assert visited.count == len(known)
    every = np.array(list(known), np.uint64).reshape(-1, words)
    owners = owner_of_each(every, 5)
    for owner in range(5):
        assert np.array_equal(visited.of_owner(owner), every[owners == owner])


def test_tables_grow_and_can_be_emptied() -> None:
    rows: Rows = np.random.default_rng(1).integers(0, 1 << 17, (200_000, 2)).astype(np.uint64)
    rows[:, 1] &= np.uint64(1)
    visited = Visited(2, 1)
    visited.add(rows)

    assert listed(visited.of_owner(0)) == list(dict.fromkeys(listed(rows)))
    visited.clear()
    assert visited.count == 0
    visited.add(rows[:1])
    assert listed(visited.of_owner(0)) == listed(rows[:1])


def test_more_rows_than_an_owner_may_have_are_refused() -> None:
    visited = Visited(1, 2, rows_max=100)
    rows: Rows = np.arange(1000, dtype=np.uint64).reshape(-1, 1)

    with pytest.raises(TooManyStates):
        visited.add(rows)
