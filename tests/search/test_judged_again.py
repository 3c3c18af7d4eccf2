"""A run that is resumed reports only what its levels come to, whatever its manifest says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from waterline.checker.checking.run import Run, run
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines import memory
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.identity import identity_of
from waterline.checker.search.result import Verdict
from waterline.checker.search.search import Budgets
from waterline.checker.storage.manifest import read_manifest, seal, write_manifest
from waterline.checker.storage.run_directory import begin, resume
from waterline.checker.storage.storage import Damaged, LocalStorage, storage_at
from waterline.model.message.environment import Environment

Values = dict[str, Any]
LEVELS = 14


@pytest.fixture(scope="module")
def problem() -> Problem:
    return problem_for("hw", Environment())


@pytest.fixture(scope="module")
def original(problem: Problem, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was stopped after it had broken eleven claims, of states and of steps."""
    folder = tmp_path_factory.mktemp("original") / "run"
    directory = begin(str(folder), identity_of(problem), problem.model.layout.words)
    with closing(directory):
        budgets = Budgets(max_depth=LEVELS)
        run(problem, EngineChoice(name="local"), directory=directory, budgets=budgets)
    return folder


@pytest.fixture
def kept(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "run")
    return tmp_path / "run"


def resumed(problem: Problem, folder: Path, **budgets: Any) -> Run:
    with closing(resume(str(folder))) as directory:
        choice = EngineChoice(name="local")
        return run(problem, choice, directory=directory, budgets=Budgets(**budgets))


def stop_amid_a_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let memory be short once 1,000 states of a level are read; level 12 has 1,291."""

    def is_too_large(engine: MemoryEngine) -> bool:
        assert engine.pending < 1_200, "a whole level was read before anybody looked"
        return engine.pending > 1_000

    monkeypatch.setattr(memory, "PIECE_ROWS_MAX", 64)
    monkeypatch.setattr(MemoryEngine, "_is_too_large", is_too_large)


def reseal(folder: Path, change: Callable[[Values], object]) -> None:
    """Edit the manifest as somebody does who makes its checksum anew."""
    path = folder / "manifest.json"
    values = json.loads(path.read_text())
    del values["sha256"]
    change(values)
    path.write_text(seal(json.dumps(values, separators=(",", ":"))))


def account(values: Values, key: str, value: object, *within: str) -> None:
    table = values["account"]
    for name in within:
        table = table[name]
    table[key] = value


def moved(values: Values) -> None:
    """A violation at a depth at which no state breaks the claim."""
    values["account"]["broken"]["sane"] = [5, [1] * values["words"]]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda v: account(v, "broken", {}), "broken.acknowledged_durable is missing there, and ["),
        (lambda v: v["account"]["broken"].popitem(), "is missing there, and ["),
        (moved, "broken.sane is [5, "),
        (lambda v: account(v, "SendFetch", 10**9, "fired"), "fired.SendFetch is 1000000000 there"),
        (lambda v: account(v, "cut", {}), "is missing there, and"),
        (lambda v: account(v, "happened_at", {}), "happened_at.isr_grows_back is missing there"),
        (lambda v: account(v, "deadlock", [3, [1] * v["words"]]), "deadlock is [3, "),
    ],
    ids=["no violation", "one less", "one more", "fired", "cut", "happened", "deadlock"],
)
def test_a_manifest_that_says_other_than_its_levels_is_refused_in_one_line(
    change: Callable[[Values], object], says: str, problem: Problem, kept: Path
) -> None:
    reseal(kept, change)
    with pytest.raises(Damaged) as refused:
        resumed(problem, kept)

    assert says in str(refused.value)
    assert "not what the levels that are kept come to" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_claim_about_steps_is_judged_again_too(tmp_path: Path) -> None:
    problem = problem_for("epoch", Environment(unclean_leader_election=True))
    folder = tmp_path / "run"
    with closing(begin(str(folder), identity_of(problem), problem.model.layout.words)) as directory:
        done = run(problem, EngineChoice(name="local"), directory=directory)
    broken = {found.name for found in done.result.violated}
    of_steps = {claim.name for claim in problem.properties} & broken
    reseal(folder, lambda values: [values["account"]["broken"].pop(name) for name in of_steps])

    assert of_steps
    with pytest.raises(Damaged, match=rf"broken\.{min(of_steps)} is missing there"):
        resumed(problem, folder)


def test_a_first_level_of_other_states_is_refused(problem: Problem, kept: Path) -> None:
    storage = storage_at(str(kept))
    assert isinstance(storage, LocalStorage)
    manifest = read_manifest(storage)
    first = manifest.levels[0]
    rows = np.array(storage.read(first.files[0].name, manifest.words))
    rows[0, 0] ^= 1
    file = storage.write(first.files[0].name, [rows])
    levels = (type(first)(0, 1, first.on, 0, (file,)), *manifest.levels[1:])
    write_manifest(storage, type(manifest)(**{**_values(manifest), "levels": levels}))

    with pytest.raises(Damaged, match="level 0 of the run does not have the initial states"):
        resumed(problem, kept)


def _values(manifest: object) -> Values:
    return {name: getattr(manifest, name) for name in manifest.__slots__}  # type: ignore[attr-defined]


def test_what_was_not_judged_again_in_time_is_not_reported(problem: Problem, kept: Path) -> None:
    reseal(kept, moved)
    done = resumed(problem, kept, max_seconds=1e-9)

    assert not done.result.complete
    assert {found.verdict for found in done.result.invariants} <= {
        Verdict.INCOMPLETE,
        Verdict.NOT_APPLICABLE,
    }


@pytest.mark.parametrize("outgrown", ["never", "at once", "within a level"])
def test_an_honest_run_is_resumed_to_the_counts_and_traces_of_one_that_was_not_stopped(
    outgrown: str, problem: Problem, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(problem, EngineChoice(name="local"))
    if outgrown == "at once":
        monkeypatch.setattr(MemoryEngine, "_is_too_large", lambda engine: True)
    if outgrown == "within a level":
        stop_amid_a_level(monkeypatch)
    done = resumed(problem, kept)

    assert done.result.complete
    assert done.result.distinct == whole.result.distinct == 26_749
    assert done.result.fired == whole.result.fired
    assert done.result.cut == whole.result.cut
    assert done.result.reachable == whole.result.reachable
    assert [(f.invariant, f.replayed.trace) for f in done.findings] == [
        (f.invariant, f.replayed.trace) for f in whole.findings
    ]
