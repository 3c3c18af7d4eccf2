"""Visited states: each is kept once, whoever adds it, and in the level in which it came first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from checker.storage.blocks import hashes, owner_of_each
from checker.storage.stop_the_world import Standstill
from checker.storage.visited import TooManyStates, Visited

Rows = NDArray[np.uint64]
WORD = st.one_of(st.integers(0, 40), st.integers(0, 2**64 - 1))
THREADS = 4


def blocks_of(words: int) -> st.SearchStrategy[list[Rows]]:
    row = st.tuples(*[WORD] * words)
    block = st.lists(row, max_size=120).map(lambda r: np.array(r, np.uint64).reshape(-1, words))
    return st.lists(block, min_size=1, max_size=6)


def listed(rows: Rows) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in rows]


def level(visited: Visited, depth: int) -> list[tuple[int, ...]]:
    return [row for _, rows in visited.level(depth) for row in listed(rows)]


def hashed(row: tuple[int, ...]) -> int:
    """The hash of a state in plain Python; files of kept runs are in its order."""
    whole = (1 << 64) - 1
    h = 0x9E3779B97F4A7C15
    for word in row:
        h = (h ^ word) * 0xBF58476D1CE4E5B9 & whole
        h ^= h >> 32
        h = h * 0x94D049BB133111EB & whole
        h ^= h >> 29
    return h


@settings(max_examples=50, deadline=None)
@given(data=st.data(), words=st.integers(1, 4), owners=st.integers(1, 9))
def test_hashes_and_owners_are_what_they_are_in_plain_python(
    data: st.DataObject, words: int, owners: int
) -> None:
    rows = np.concatenate(data.draw(blocks_of(words)))
    told = [hashed(row) for row in listed(rows)]

    assert hashes(rows).tolist() == told
    assert owner_of_each(rows, owners).tolist() == [(h >> 32) * owners >> 32 for h in told]


@settings(max_examples=50, deadline=None)
@given(data=st.data(), words=st.integers(1, 3), threads=st.sampled_from((1, 3)))
def test_each_row_is_kept_once_in_its_first_level_with_its_owner(
    data: st.DataObject, words: int, threads: int
) -> None:
    visited = Visited(words, 5, threads=threads)
    known: set[tuple[int, ...]] = set()
    expected = []
    for number, rows in enumerate(data.draw(blocks_of(words))):
        if number:
            visited.begin_level()
        visited.add(rows, number % threads)
        expected.append(set(listed(rows)) - known)
        known |= expected[-1]
        assert visited.pending == len(expected[-1])

    assert visited.count == len(known)
    for depth, wanted in enumerate(expected):
        found = level(visited, depth)
        assert len(found) == len(wanted)
        assert set(found) == wanted
        for owner, rows in visited.level(depth):
            assert set(owner_of_each(rows, 5)) == {owner}


def test_one_thread_keeps_rows_in_the_order_of_arrival() -> None:
    rows = np.random.default_rng(1).integers(0, 500, (3000, 1)).astype(np.uint64)
    visited = Visited(1, 1)
    visited.add(rows)

    assert listed(visited.of_owner(0)) == list(dict.fromkeys(listed(rows)))
    visited.clear()
    assert visited.count == 0
    visited.add(rows[:1])
    assert listed(visited.of_owner(0)) == listed(rows[:1])


@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_appended_is_found_once_it_is_indexed(threads: int) -> None:
    rows = np.unique(np.random.default_rng(2).integers(0, 2**60, (60_000, 1), np.uint64), axis=0)
    numbers = owner_of_each(rows, 3)
    visited = Visited(1, 3, threads=threads)
    for owner in range(3):
        mine = rows[numbers == owner]
        visited.append(owner, mine[:700])
        visited.append(owner, mine[700:])
        visited.index(owner)
    visited.begin_level()
    visited.add(rows)

    assert visited.count == len(rows)
    assert visited.pending == 0
    assert sorted(level(visited, 0)) == sorted(listed(rows))


@pytest.mark.parametrize(("words", "owners"), [(1, 1), (2, 32), (3, 7)])
def test_threads_that_add_the_same_rows_keep_each_once(words: int, owners: int) -> None:
    """All begin at once with the same rows in the same order: each slot is fought for."""
    draw = np.random.default_rng(words)
    rows = draw.integers(0, 2**64 - 1, (200_000, words), np.uint64, endpoint=True)
    rows[::3] = rows[0]
    rows[1::3, 1:] = 0
    visited = Visited(words, owners, threads=THREADS)
    begun = threading.Barrier(THREADS)

    def add(thread: int) -> None:
        begun.wait()
        for part in np.array_split(rows, 40):
            visited.add(np.ascontiguousarray(part), thread)

    with ThreadPoolExecutor(THREADS) as pool:
        for done in [pool.submit(add, thread) for thread in range(THREADS)]:
            done.result()
    found = np.concatenate([rows for _, rows in visited.level(0)])

    distinct = np.unique(rows, axis=0)
    assert visited.count == len(distinct)
    assert np.array_equal(np.unique(found, axis=0), distinct)


@pytest.mark.parametrize("threads", [1, 2])
def test_more_rows_than_an_owner_may_have_are_refused(threads: int) -> None:
    visited = Visited(1, 2, rows_max=100 * threads, threads=threads)
    rows = np.arange(1000, dtype=np.uint64).reshape(-1, 1)

    with pytest.raises(TooManyStates):
        visited.add(rows)
    with pytest.raises(TooManyStates):
        visited.append(0, rows)


# --- standing still ------------------------------------------------------------------------------


def test_chores_are_done_while_nobody_works_and_all_wait_for_them() -> None:
    working, seen, chores_left = [0], [], [[1, 2, 3], []]
    lock = threading.Lock()

    def chore(number: int) -> None:
        seen.append((number, working[0]))

    standstill = Standstill(lambda: [lambda n=n: chore(n) for n in chores_left.pop(0)])

    def work(asks: bool) -> None:
        for turn in range(50):
            with standstill.working():
                with lock:
                    working[0] += 1
                with lock:
                    working[0] -= 1
            if asks and turn == 10:
                standstill.ask()

    threads = [threading.Thread(target=work, args=(n == 0,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert not any(thread.is_alive() for thread in threads)
    assert sorted(seen) == [(1, 0), (2, 0), (3, 0)]
    assert chores_left == [[]]


def test_a_chore_that_fails_ends_the_work_of_all() -> None:
    def fail() -> None:
        raise ValueError("no room")

    standstill = Standstill(lambda: [fail])
    standstill.ask()

    for _ in range(2):
        with pytest.raises(ValueError, match="no room"), standstill.working():
            pytest.fail("it worked")
