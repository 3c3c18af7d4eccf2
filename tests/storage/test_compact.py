"""Compact tables: every state is found again, in its level, and none is taken for another."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.packed import Rows, blocks_of, hashed, listed, random_rows, state_with
from waterline.checker.storage import compact
from waterline.checker.storage.arena import TooManyStates
from waterline.checker.storage.blocks import owner_of_each
from waterline.checker.storage.compact import CompactVisited, StrayBits
from waterline.checker.storage.entry_layout import entry_layout, probe_bits_max

THREADS = 4
TINY_LINES = 16
WIDTHS = [(64,), (10,), (1, 64), (64, 9), (63, 28), (64, 64, 64), (20, 3, 1, 64, 17)]
State = tuple[int, ...]


def level(visited: CompactVisited, depth: int) -> list[State]:
    return [row for _, rows in visited.level(depth) for row in listed(rows)]


def same_hash(count: int, widths: tuple[int, ...], low_bits: int = 64) -> Rows:
    """States whose hashes have so many of their lower bits, and all bits of the owner, alike."""
    found = []
    for number in range(count):
        h = 0x5A5A5A5A5A5A5A5A + (number << low_bits if low_bits < 64 else 0)
        others = [(number * 7 + w) & ((1 << width) - 1) for w, width in enumerate(widths[1:])]
        found.append(state_with(h, others))
    return np.array(found, np.uint64)


def test_states_can_be_made_with_a_given_hash() -> None:
    for others in ([], [7], [1 << 63, 0, 5]):
        for h in (0, 1, (1 << 64) - 1, 0x0123456789ABCDEF):
            assert hashed(state_with(h, others)) == h


# --- layouts -------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(
    widths=st.lists(st.integers(1, 64), min_size=1, max_size=8),
    owner_bits=st.integers(2, 8),
    lines=st.integers(TINY_LINES, 1 << 28),
    depth_max=st.integers(1, (1 << 32) - 1),
    data=st.data(),
)
def test_an_entry_has_room_for_all_that_its_place_does_not_say(
    widths: list[int], owner_bits: int, lines: int, depth_max: int, data: st.DataObject
) -> None:
    """Every probe up to a full turn of the table can be numbered, and nothing overlaps."""
    probe_bits = data.draw(st.integers(2, max(5, probe_bits_max(lines))))
    layout = entry_layout(
        widths, owner_bits=owner_bits, lines=lines, probe_bits=probe_bits, depth_max=depth_max
    )

    assert layout.probe_bits == probe_bits
    assert layout.upper_bits == 32 - owner_bits
    assert (1 << layout.low_bits) * lines >= 1 << 32
    used = layout.probe_bits + layout.low_bits + layout.upper_bits
    assert used + layout.other_bits + layout.depth_bits <= 64
    assert layout.depth_max >= depth_max
    assert layout.tail_units == layout.depth_units + sum(layout.units)
    in_head = [0, layout.other_bits, *[0] * 6]
    for word, width in enumerate(widths[1:], 1):
        assert in_head[word] + 16 * layout.units[word] >= width


def test_states_of_the_benchmarks_have_no_tail() -> None:
    """A state of 73 bits takes 8 bytes an entry from 2 million on, one of 91 bits 10 bytes."""
    sizes = {
        (bits, lines): entry_layout(
            (64, bits), owner_bits=5, lines=lines, probe_bits=5, depth_max=63
        ).tail_units
        for bits, lines in itertools.product((7, 9, 28), (1 << 14, 1 << 19, 1 << 22))
    }

    assert [sizes[7, lines] for lines in (1 << 14, 1 << 19)] == [0, 0]
    assert sizes[9, 1 << 19] == 0
    assert sizes[28, 1 << 22] == 1


# --- one thread ----------------------------------------------------------------------------------


CASES = {
    "data": st.data(),
    "widths": st.one_of(
        st.sampled_from(WIDTHS), st.lists(st.integers(1, 64), min_size=1, max_size=5)
    ),
    "threads": st.sampled_from((1, 3)),
    "owners": st.sampled_from((4, 16)),
}


@settings(max_examples=15, deadline=None)
@given(**CASES)
def test_each_row_is_kept_once_in_its_first_level_with_its_owner(**case: Any) -> None:
    assert_each_row_is_kept_once(**case)


def assert_each_row_is_kept_once(
    data: st.DataObject, widths: list[int], threads: int, owners: int
) -> None:
    """Levels of any rows, to which threads add in turn."""
    visited = CompactVisited(widths, owners, threads=threads, lines=TINY_LINES)
    known: set[State] = set()
    expected = []
    for number, rows in enumerate(data.draw(blocks_of(widths))):
        if number:
            visited.begin_level()
        visited.add(rows, number % threads)
        expected.append(set(listed(rows)) - known)
        known |= expected[-1]
        assert visited.pending == len(expected[-1])

    assert visited.count == len(known)
    for depth, wanted in enumerate(expected):
        found = level(visited, depth)
        assert visited.size(depth) == len(found) == len(wanted)
        assert set(found) == wanted
        for owner, rows in visited.level(depth):
            assert set(owner_of_each(rows, owners)) == {owner}


@pytest.mark.parametrize("widths", [(11,), (6, 5), (1, 7, 3), (4, 1, 1, 1, 4)])
@pytest.mark.parametrize("owners", [4, 32])
def test_every_state_of_a_small_width_is_decoded_as_it_was(
    widths: tuple[int, ...], owners: int
) -> None:
    every = list(itertools.product(*(range(1 << width) for width in widths)))
    rows = np.array(every, np.uint64)
    visited = CompactVisited(widths, owners, lines=TINY_LINES)
    visited.add(rows[::-1].copy())
    visited.add(rows)
    for _ in range(2):
        visited.begin_level()
    visited.add(rows)

    assert visited.count == len(every)
    assert sorted(level(visited, 0)) == every
    assert visited.pending == 0


@pytest.mark.parametrize("widths", WIDTHS)
def test_tables_that_are_filled_to_the_last_entry_stay_exact(
    widths: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 100% states stand far from home, and entries get more bits for how far."""
    monkeypatch.setattr(compact, "_LOAD_SMALL", 1.0)
    monkeypatch.setattr(compact, "_NEARLY", 1.0)
    monkeypatch.setattr(compact, "_NEARLY_SMALL", 1.0)
    monkeypatch.setattr(compact, "_ROOM_MIN", 0)
    rows = np.unique(random_rows(widths, 5000), axis=0)
    visited = CompactVisited(widths, 4, lines=TINY_LINES)
    added = 0
    for size in (127, 128, 129, 400, 505, 512, 513, 1900, 2047, 2048, len(rows)):
        visited.add(rows[added:size].copy())
        added = size
        assert visited.count == min(added, len(rows))
        visited.add(rows[:added].copy())
        assert visited.count == min(added, len(rows))
    for _ in range(2):
        visited.begin_level()

    assert sorted(level(visited, 0)) == listed(rows)


@pytest.mark.parametrize(
    ("widths", "low_bits"), [((64, 64), 64), ((64, 12, 3), 64), ((64,), 32), ((64, 40), 40)]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_states_that_collide_in_every_table_are_told_apart(
    widths: tuple[int, ...], low_bits: int, threads: int
) -> None:
    """All have one home, whatever the size: the tables let them stand further away, and end."""
    rows = np.unique(same_hash(3000, widths, low_bits), axis=0)
    assert len({hashed(row) & 0xFFFFFFFF for row in listed(rows)}) == 1
    others = random_rows(widths, 3000)
    visited = CompactVisited(widths, 4, threads=threads, lines=TINY_LINES)
    visited.add(rows[::2].copy())
    visited.begin_level()
    visited.add(rows, threads - 1)
    visited.add(others)
    visited.begin_level()
    visited.add(rows)
    visited.begin_level()

    first = set(listed(rows[::2]))
    assert set(level(visited, 0)) == first
    assert set(level(visited, 1)) == (set(listed(rows)) | set(listed(others))) - first
    assert visited.size(2) == 0
    assert visited.count == visited.size(0) + visited.size(1)


@pytest.mark.parametrize("owners", [4, 32])
@pytest.mark.parametrize("widths", [(64,), (64, 64), (64, 30, 40)])
def test_depths_have_room_however_many_levels_there_are(
    widths: tuple[int, ...], owners: int
) -> None:
    """Where they fit no head any more, they go to the tails."""
    rows = np.unique(random_rows(widths, 1500), axis=0)
    visited = CompactVisited(widths, owners, lines=TINY_LINES)
    for depth, row in enumerate(rows):
        if depth:
            visited.begin_level()
        visited.add(rows[max(0, depth - 20) : depth].copy())
        visited.add(row[None].copy())

    assert visited.count == len(rows)
    for depth in (0, 1, 62, 63, 64, 65, 255, 256, 1023, 1024, len(rows) - 3, len(rows) - 1):
        assert level(visited, depth) == listed(rows[depth][None])


def test_a_level_that_is_alone_and_levels_that_are_found_together_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("waterline.checker.storage.compact_tables._ROWS_MIN", 300)
    rows = random_rows((64, 9), 6000)
    visited = CompactVisited((64, 9), 4)
    cuts = [0, 3, 50, 55, 300, 2000, 2001, 5000, 5100, 5120, 5999, 6000]
    for start, stop in itertools.pairwise(cuts):
        visited.add(rows[start:stop].copy())
        visited.begin_level()
    depths = [*range(11), *reversed(range(11)), 3, 9, 0]

    for depth in depths:
        wanted = listed(rows[cuts[depth] : cuts[depth + 1]])
        assert sorted(level(visited, depth)) == sorted(wanted)


def test_a_state_with_bits_outside_its_layout_is_refused() -> None:
    visited = CompactVisited((64, 9), 4)
    visited.add(np.array([[1, 511]], np.uint64))

    for stray in (512, 1 << 63):
        with pytest.raises(StrayBits):
            visited.add(np.array([[2, 3], [1, stray]], np.uint64))


def test_more_rows_of_a_level_than_there_is_room_for_are_refused() -> None:
    for threads in (1, 2):
        visited = CompactVisited((64,), 4, rows_max=100 * threads, threads=threads)
        with pytest.raises(TooManyStates):
            visited.add(random_rows((64,), 1000))


def test_levels_give_their_memory_back() -> None:
    """A level that is forgotten reads as zeros where more was written than is kept."""
    visited = CompactVisited((64,), 4)
    rows = random_rows((64,), 100_000)
    visited.add(rows)
    (arrived,) = visited.of_level(0, 2)
    assert arrived[20_000, 0] != 0
    visited.begin_level()
    visited.begin_level()

    assert arrived[20_000, 0] == 0
    assert sorted(level(visited, 0)) == sorted(listed(rows))


# --- several threads -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("widths", "owners"), [((64,), 4), ((64, 9), 32), ((64, 64), 4), ((64, 64, 21), 8)]
)
def test_threads_that_add_the_same_rows_keep_each_once(
    widths: tuple[int, ...], owners: int
) -> None:
    """All begin at once with the same rows in the same order, in tables that grow all the time:

    each entry is fought for, with tails and without.
    """
    rows = random_rows(widths, 120_000, seed=len(widths))
    rows[::3] = rows[0]
    rows[1::3, 1:] = 0
    visited = CompactVisited(widths, owners, threads=THREADS, lines=TINY_LINES)
    halves = np.array_split(rows, 2)
    for depth, half in enumerate(halves):
        if depth:
            visited.begin_level()
        begun = threading.Barrier(THREADS)

        def add(thread: int, half: Rows = half, begun: threading.Barrier = begun) -> None:
            begun.wait()
            for part in np.array_split(half, 20):
                visited.add(np.ascontiguousarray(part), thread)

        with ThreadPoolExecutor(THREADS) as pool:
            for done in [pool.submit(add, thread) for thread in range(THREADS)]:
                done.result()
    for _ in range(2):
        visited.begin_level()
    first = np.unique(halves[0], axis=0)
    distinct = np.unique(rows, axis=0)

    assert visited.count == len(distinct)
    assert sorted(level(visited, 0)) == listed(first)
    assert sorted(level(visited, 0) + level(visited, 1)) == listed(distinct)


@pytest.mark.parametrize("widths", [(64,), (64, 40)])
def test_threads_that_meet_colliding_states_keep_each_once(widths: tuple[int, ...]) -> None:
    rows = np.unique(same_hash(1200, widths, 32), axis=0)
    visited = CompactVisited(widths, 4, threads=THREADS, lines=TINY_LINES)
    begun = threading.Barrier(THREADS)

    def add(thread: int) -> None:
        begun.wait()
        for part in np.array_split(rows, 30):
            visited.add(np.ascontiguousarray(part), thread)

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(add, thread) for thread in range(THREADS)]:
            done.result()

    assert visited.count == len(rows)
    assert sorted(level(visited, 0)) == listed(rows)
