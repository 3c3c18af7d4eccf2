"""The table of an owner against a plain set: the same states are new, in the order of runs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from waterline.checker.problem.packed_rows import Rows
from waterline.checker.storage import owner_table
from waterline.checker.storage.blocks import owner_of_each
from waterline.checker.storage.owner_table import OwnerTable
from waterline.checker.storage.runs import share, sort_unique

WIDTHS = 64, 9


def states_of(owner: int, owners: int, numbers: list[int]) -> Rows:
    """Those of an owner among the states of these numbers."""
    rows = np.array([(n * 0x9E3779B97F4A7C15 % 2**64, n % 512) for n in numbers], np.uint64)
    return rows.reshape(-1, 2)[owner_of_each(rows.reshape(-1, 2), owners) == owner]


@pytest.mark.parametrize(("owners", "owner"), [(1, 0), (2, 1), (3, 1), (200, 199)])
@pytest.mark.parametrize("parts", [1, 4, 64])
def test_new_states_are_those_that_a_set_does_not_have(owners: int, owner: int, parts: int) -> None:
    chance = random.Random(owners * parts)
    table = OwnerTable(WIDTHS, owners, owner)
    known: set[tuple[int, ...]] = set()
    for level in range(4):
        numbers = [chance.randrange(3_000 << level) for _ in range(2_000 << level)]
        rows = states_of(owner, owners, numbers)
        part_of = owner_of_each(rows, owners * parts) - owner * parts
        new = [table.new(np.ascontiguousarray(rows[part_of == p]), p, parts) for p in range(parts)]
        found = np.concatenate(new)

        assert sort_unique(found.copy()).tolist() == found.tolist()
        expected = set(map(tuple, rows.tolist())) - known
        assert set(map(tuple, found.tolist())) == expected
        assert len(found) == len(expected)
        known |= expected


def test_the_states_of_files_are_known_and_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    run = sort_unique(states_of(0, 1, list(range(5_000))))
    table = OwnerTable(WIDTHS, 2, 1)

    table.take_in("level-0", share(run, 2, 1))

    assert table.files == {"level-0"}
    assert len(table.new(share(run, 2, 1).copy(), 0, 1)) == 0
    with pytest.raises(AssertionError, match="level-1"):
        table.take_in("level-1", share(run, 2, 1)[5:6])


def test_a_state_that_finds_no_place_near_its_home_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner_table, "TABLES", 4)
    monkeypatch.setattr(owner_table, "_LOAD_MAX", 1.0)
    table = OwnerTable(WIDTHS, 1, 0)
    rows = states_of(0, 1, list(range(20_000)))

    new = table.new(rows, 0, 1)
    again = table.new(rows, 0, 1)

    assert (len(new), len(again)) == (20_000, 0)
