"""Levels that outgrow the owners that workers began with are divided among more."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines import over_files
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.over_files import FileEngine, WrittenLevels
from waterline.checker.search.engines.workers import DiskWorkers
from waterline.checker.search.identity import identity_of
from waterline.checker.search.result import Budgets
from waterline.checker.search.search import search
from waterline.checker.storage.run_directory import begin
from waterline.model.atomic import AtomicEnvironment

PROBLEM = problem_for("hw", AtomicEnvironment(replicas=3, records=1, epochs=1), ["type_ok"])
WORDS = PROBLEM.model.layout.words
BUDGETS = Budgets(max_depth=8)


def test_more_owners_find_the_same_and_leave_no_run_of_the_fewer(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(over_files, "SMALL_FRONTIER", 10)
    with closing(MemoryEngine(PROBLEM, threads=1)) as engine:
        expected = search(PROBLEM, engine, budgets=BUDGETS)
    owners: list[int] = []
    with closing(begin(str(tmp_path), identity_of(PROBLEM), WORDS)) as directory:
        workers = DiskWorkers(words=WORDS, threads=2, memory_bytes=1 << 18)
        levels = WrittenLevels(WORDS, directory)
        with closing(FileEngine(PROBLEM, workers, levels)) as engine:
            found = search(
                PROBLEM, engine, budgets=BUDGETS, watch=lambda _: owners.append(engine.owners)
            )
            used = {Path(run.name).name for tiers in engine._tiers for run, _ in tiers.runs}
            runs = {path.name for path in (tmp_path / directory.work / "visited").iterdir()}

    assert owners[0] < owners[-1]
    assert [level.states for level in found.levels] == [level.states for level in expected.levels]
    assert (found.generated, found.fired) == (expected.generated, expected.fired)
    assert runs
    assert runs <= used
