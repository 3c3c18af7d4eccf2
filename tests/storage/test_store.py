"""Sorted runs, tiers, tables and files, each against the plainest way to say what it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines import task
from waterline.checker.search.engines.over_files import Tiers
from waterline.checker.search.engines.task import OwnerPlan, SortedFile, _merge_runs
from waterline.checker.storage.blocks import hashes, owner_of_each
from waterline.checker.storage.runs import Scratch, merge, share, sort_unique, unseen
from waterline.checker.storage.storage import (
    Damaged,
    RemoteStorage,
    Storage,
    require_whole,
    storage_at,
)
from waterline.model.atomic import AtomicEnvironment

Rows = NDArray[np.uint64]
# Few values, so that equal rows meet; large ones too, so that every bit is in play.
WORD = st.one_of(st.integers(0, 40), st.integers(0, 2**64 - 1))


def rows_of(words: int, many: int = 300) -> st.SearchStrategy[Rows]:
    row = st.tuples(*[WORD] * words)
    return st.lists(row, max_size=many).map(
        lambda rows: np.array(rows, np.uint64).reshape(-1, words)
    )


def in_order(rows: Rows) -> list[tuple[int, ...]]:
    """The distinct rows by hash, then by words."""
    keys = hashes(rows)
    told = {(int(k), *map(int, row)) for k, row in zip(keys, rows, strict=True)}
    return [each[1:] for each in sorted(told)]


def listed(rows: Rows) -> list[tuple[int, ...]]:
    return [tuple(map(int, row)) for row in rows]


@settings(max_examples=60, deadline=None)
@given(data=st.data(), words=st.integers(1, 3))
def test_sorting_gives_every_row_once_in_the_order_of_hashes(
    data: st.DataObject, words: int
) -> None:
    rows = data.draw(rows_of(words))
    scratch = Scratch()

    assert listed(sort_unique(rows)) == in_order(rows)
    assert listed(sort_unique(rows, scratch)) == in_order(rows)
    assert listed(sort_unique(rows[::-1].copy(), scratch)) == in_order(rows)


@pytest.mark.parametrize("count", [10_000, 300_000])
def test_sorting_many_rows(count: int) -> None:
    rows = np.random.default_rng(count).integers(0, count // 2, (count, 2), dtype=np.uint64)
    done = sort_unique(rows)
    keys = hashes(done)

    assert (keys[1:] >= keys[:-1]).all()
    assert len(done) == len(np.unique(rows, axis=0))


@settings(max_examples=60, deadline=None)
@given(rows=rows_of(2), parts=st.integers(2, 5), seed=st.integers(0, 99))
def test_merging_disjoint_runs_is_sorting_what_they_hold(rows: Rows, parts: int, seed: int) -> None:
    distinct = sort_unique(rows)
    belongs = np.random.default_rng(seed).integers(0, parts, len(distinct))
    runs = [np.ascontiguousarray(distinct[belongs == part]) for part in range(parts)]

    merged = [row for block in merge(runs) for row in listed(block)]

    assert merged == listed(distinct)


def test_an_owner_merges_so_many_states_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    problem = problem_for("hw", AtomicEnvironment(replicas=3, records=3, epochs=3), ["type_ok"])
    chance = np.random.default_rng(1)
    rows = sort_unique(chance.integers(0, 1 << 60, (6_000, 2), dtype=np.uint64))
    belongs = chance.integers(0, 3, len(rows))
    place = storage_at(str(tmp_path))
    names = [place.write(f"{n}.states", [rows[belongs == n]]).name for n in range(3)]
    of_both = OwnerPlan(merge=tuple(SortedFile(name, whole=False) for name in names))
    plan: Any = SimpleNamespace(problem=problem, storage=place, owners=(of_both, of_both))
    sizes: list[int] = []

    def noting(runs: Sequence[Rows]) -> Iterator[Rows]:
        sizes.append(sum(map(len, runs)))
        return merge(runs)

    monkeypatch.setattr(task, "merge", noting)
    monkeypatch.setattr(task, "MERGED_ROWS", 500)
    merged = [
        row for owner in (0, 1) for block in _merge_runs(plan, owner) for row in listed(block)
    ]

    assert merged == listed(rows)
    assert max(sizes) < 600


@settings(max_examples=60, deadline=None)
@given(rows=rows_of(2), known=rows_of(2), more=rows_of(2))
def test_unseen_is_what_no_run_holds(rows: Rows, known: Rows, more: Rows) -> None:
    runs = [sort_unique(known), sort_unique(more)]
    held = {row for run in runs for row in listed(run)}

    new = unseen(sort_unique(rows), runs)

    assert listed(new) == [row for row in in_order(rows) if row not in held]


@pytest.mark.parametrize("held", [0.03, 0.3, 0.9])
def test_what_a_run_holds_is_seen_however_far_apart_it_lies(held: float) -> None:
    """Many candidates are in the run, a few rows on or many."""
    draw = np.random.default_rng(3)
    rows = sort_unique(np.arange(600, dtype=np.uint64).reshape(-1, 2))
    for asked in (0.05, 0.5, 1.0):
        for _ in range(40):
            run = rows[draw.random(len(rows)) < held]
            candidates = rows[draw.random(len(rows)) < asked]
            known = set(listed(run))

            new = unseen(candidates, [run])

            assert listed(new) == [row for row in listed(candidates) if row not in known]


@settings(max_examples=60, deadline=None)
@given(rows=rows_of(2), owners=st.integers(1, 9))
def test_shares_are_the_owners_rows_and_together_the_run(rows: Rows, owners: int) -> None:
    run = sort_unique(rows)
    numbers = owner_of_each(run, owners)

    shares = [share(run, owners, owner) for owner in range(owners)]

    assert [row for part in shares for row in listed(part)] == listed(run)
    for owner, part in enumerate(shares):
        assert listed(part) == listed(run[numbers == owner])


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 10_000), min_size=1, max_size=60), taken_over=st.integers(0, 9)
)
@example(sizes=list(range(10_000, 9_940, -1)), taken_over=0)
@example(sizes=[*range(1, 4_000, 100), *range(4_000, 3_950, -1)], taken_over=40)
def test_tiers_keep_few_runs_and_lose_none(sizes: list[int], taken_over: int) -> None:
    tiers = Tiers()
    held: dict[str, set[int]] = {}
    rewritten = 0
    for number, size in enumerate(sizes):
        held[f"level-{number}"] = {number}
        tiers.add(SortedFile(f"level-{number}"), size)
        if number < taken_over:
            continue  # A search in memory explored it.
        plan = tiers.plan(f"visited/{number}")
        if plan.merge:
            held[plan.merged] = set().union(*(held[run.name] for run in plan.merge))
            rewritten += sum(sizes[i] for i in held[plan.merged])
        searched = [run.name for run in plan.runs] + ([plan.merged] if plan.merge else [])
        covered = [i for name in searched for i in held[name]]
        assert sorted(covered) == list(range(number + 1))

    if taken_over < len(sizes):
        assert len(tiers.runs) <= 2 + np.log2(sum(sizes))
    assert rewritten <= sum(sizes) * (2 + np.log2(sum(sizes)))


@pytest.fixture(params=["directory", "pyarrow"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "directory":
        return storage_at(f"{tmp_path}/run")
    return RemoteStorage(f"file://{tmp_path}/run")


def test_what_is_written_is_read_again(storage: Storage) -> None:
    rows = np.arange(20, dtype=np.uint64).reshape(-1, 2)
    file = storage.write("level-00000/a.states", [rows[:3], rows[:0], rows[3:]])
    nothing = storage.write("level-00000/b.states", [])

    require_whole(storage, file, 2)
    assert listed(storage.read(file.name, 2)) == listed(rows)
    assert (file.rows, nothing.rows) == (10, 0)
    assert len(storage.read(nothing.name, 2)) == 0
    storage.delete([file.name, "never.states"])
    assert not storage.exists(file.name)
    with pytest.raises(Damaged, match=r"level-00000/a\.states is missing"):
        storage.read(file.name, 2)


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    def failing() -> object:
        yield np.zeros((2, 2), np.uint64)
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        storage_at(str(tmp_path)).write("a.states", failing())  # type: ignore[arg-type]

    assert list(tmp_path.iterdir()) == []
