"""A kept run as Parquet: every state is there, decoded, with its least parent; and every step."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.support.commands import Commands
from waterline.checker.analysis import export as exporting
from waterline.checker.analysis.export import Exporting, export
from waterline.checker.cli.states import line_of
from waterline.checker.kafka.families import family_of, problem_for
from waterline.checker.problem.problem import Problem
from waterline.checker.search.account import Account
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.identity import identity_of
from waterline.checker.search.search import Budgets, search
from waterline.checker.storage import tables
from waterline.checker.storage.manifest import read_manifest, write_manifest
from waterline.checker.storage.run_directory import begin
from waterline.checker.storage.storage import LocalStorage
from waterline.checker.traces.fewest_actors import paths_to_breaking
from waterline.checker.traces.violating_states import Breaking
from waterline.model.atomic import AtomicEnvironment
from waterline.model.core.state import State, as_dict
from waterline.model.message.environment import Environment

Row = dict[str, Any]
PROBLEMS: dict[str, Callable[[], Problem]] = {
    "message, few": lambda: problem_for(
        "epoch", Environment(records=1, epochs=1, restarts=0, moves=1)
    ),
    "message": lambda: problem_for("epoch", Environment(records=1, restarts=1, moves=1)),
    "message, 3 replicas": lambda: problem_for(
        "hw", Environment(replicas=3, records=1, epochs=1, restarts=0, moves=0)
    ),
    "atomic": lambda: problem_for("kip320", AtomicEnvironment(replicas=2, epochs=1)),
}


def kept(problem: Problem, place: Path, *, on_disk: bool = False, **budgets: Any) -> Any:
    """Explore and keep; returns the result and the least path to 50 of the states."""
    directory = begin(str(place), identity_of(problem), problem.model.layout.words)
    choice = EngineChoice(name="local", threads=2, partitions=3 if on_disk else None)
    memory_bytes = 1 if on_disk else None
    engine = engine_for(problem, choice, directory=directory, memory_bytes=memory_bytes)

    def commit(level: Any, account: Account) -> None:
        directory.commit(level.files, account.as_values())

    with closing(directory), closing(engine):
        result = search(problem, engine, budgets=Budgets(**budgets), commit=commit)
        if result.complete:
            directory.finish()
        states = {
            (level.depth, tuple(map(int, row)))
            for level in directory.manifest.levels
            for file in level.files
            for row in directory.storage.read(file.name, problem.model.layout.words)
        }
        some = random.Random(1).sample(sorted(states), 50)
        targets = {str(i): Breaking(d, (words,), 1, None) for i, (d, words) in enumerate(some)}
        paths = paths_to_breaking(problem, engine, targets)
    return result, [(words, paths[str(i)]) for i, (_, words) in enumerate(some)]


def rows_of(folder: Path) -> list[Row]:
    found: list[Row] = pq.read_table(folder).to_pylist()
    return found


def words_of(key: bytes) -> tuple[int, ...]:
    return tuple(int.from_bytes(key[i : i + 8], "big") for i in range(0, len(key), 8))


def dead_rows_as_null(value: Any) -> Any:
    """`as_dict` has a list of None for a row of a table that is not alive, the export a null."""
    if not isinstance(value, list):
        return value
    return [None if isinstance(row, list) and set(row) == {None} else row for row in value]


@pytest.fixture(params=["message, few", "atomic"])
def problem(request: pytest.FixtureRequest) -> Problem:
    return PROBLEMS[request.param]()


def test_every_state_is_decoded_as_the_interpreted_model_reads_it(
    problem: Problem, tmp_path: Path
) -> None:
    result, _ = kept(problem, tmp_path / "run")
    export(str(tmp_path / "run"), tmp_path / "out", family_of)
    rows = rows_of(tmp_path / "out" / "states")
    layout = problem.model.layout

    assert len({row["state"] for row in rows}) == len(rows) == result.distinct
    for row in rows:
        expected = as_dict(State(layout, words_of(row["state"])))
        assert {name: row[name] for name in expected} == {
            name: dead_rows_as_null(value) for name, value in expected.items()
        }


def test_there_are_as_many_states_at_each_depth_as_the_run_found(
    problem: Problem, tmp_path: Path
) -> None:
    result, _ = kept(problem, tmp_path / "run")
    done = export(str(tmp_path / "run"), tmp_path / "out", family_of)
    depths = Counter(row["depth"] for row in rows_of(tmp_path / "out" / "states"))
    described = json.loads((tmp_path / "out" / "export.json").read_text())

    assert [depths[level.depth] for level in result.levels] == [lv.states for lv in result.levels]
    assert described["levels"] == [level.states for level in result.levels]
    assert done.states == described["states"] == result.distinct
    assert described["complete"] is True


def test_steps_are_all_transitions_of_the_run(problem: Problem, tmp_path: Path) -> None:
    result, _ = kept(problem, tmp_path / "run")
    done = export(str(tmp_path / "run"), tmp_path / "out", family_of, steps=True)
    steps = rows_of(tmp_path / "out" / "steps")
    states = {row["state"]: row["depth"] for row in rows_of(tmp_path / "out" / "states")}
    taken = Counter(row["action"] for row in steps)

    assert done.steps == len(steps) == result.generated - len(problem.model.initial)
    assert taken == Counter({name: n for name, n in result.fired.items() if n})
    assert all(row["depth"] == states[row["source"]] for row in steps)
    assert {row["target"] for row in steps} <= set(states)


def test_steps_are_those_that_the_interpreted_model_offers(tmp_path: Path) -> None:
    problem = PROBLEMS["atomic"]()
    kept(problem, tmp_path / "run")
    export(str(tmp_path / "run"), tmp_path / "out", family_of, steps=True)
    model = problem.model
    told = Counter(
        (words_of(row["source"]), words_of(row["target"]), row["step"], tuple(row["arguments"]))
        for row in rows_of(tmp_path / "out" / "steps")
    )

    offered = Counter(
        (source, step.after.words, str(step), step.arguments)
        for source in {words_of(r["state"]) for r in rows_of(tmp_path / "out" / "states")}
        for step in model.successors(State(model.layout, source))
    )
    assert told == offered


@pytest.mark.parametrize("on_disk", [False, True], ids=["in memory", "three owners' files"])
def test_the_way_back_is_the_path_that_a_trace_would_show(
    problem: Problem, on_disk: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a level is gone through in many pieces, and the table is many files."""
    monkeypatch.setattr(exporting, "PIECE_STATES", 70)
    monkeypatch.setattr(exporting, "ROW_GROUP_ROWS", 30)
    monkeypatch.setattr(tables, "ROW_GROUP_ROWS", 30)
    monkeypatch.setattr(tables, "PART_ROWS", 90)
    _, paths = kept(problem, tmp_path / "run", on_disk=on_disk)
    export(str(tmp_path / "run"), tmp_path / "out", family_of)
    rows = {words_of(row["state"]): row for row in rows_of(tmp_path / "out" / "states")}

    assert len(list((tmp_path / "out" / "states").iterdir())) > 3
    for words, path in paths:
        calls = []
        row = rows[words]
        while row["parent"] is not None:
            assert rows[words_of(row["parent"])]["depth"] == row["depth"] - 1
            calls.append((row["action"], tuple(row["arguments"])))
            row = rows[words_of(row["parent"])]
        assert tuple(reversed(calls)) == path.calls
        assert (row["depth"], row["action"], row["arguments"], row["step"]) == (0, None, None, None)


def test_of_a_run_that_was_stopped_the_last_level_has_no_steps(tmp_path: Path) -> None:
    problem = PROBLEMS["message"]()
    result, _ = kept(problem, tmp_path / "run", max_depth=7)
    done = export(str(tmp_path / "run"), tmp_path / "out", family_of, steps=True)
    steps = rows_of(tmp_path / "out" / "steps")

    assert not done.complete
    assert len(steps) == result.generated - 1
    assert {row["depth"] for row in steps} == set(range(7))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    kept(PROBLEMS["message"](), tmp_path / "run")
    return tmp_path / "run"


def test_the_command_says_what_it_wrote(cli: Commands, run: Path, tmp_path: Path) -> None:
    code, out, err = cli(
        "states", run, "--out", tmp_path / "new" / "out", "--steps", name="waterline"
    )

    assert code == 0
    assert err == ""
    assert "of a complete run" in out
    assert out.count("\n") == 2


def no_manifest(run: Path, out: Path) -> None:
    (run / "manifest.json").unlink()


def no_level(run: Path, out: Path) -> None:
    storage = LocalStorage(run)
    write_manifest(
        storage, replace(read_manifest(storage), levels=(), account=None, complete=False)
    )


def other_rules(run: Path, out: Path) -> None:
    storage = LocalStorage(run)
    manifest = read_manifest(storage)
    other = {**manifest.identity, "rules": "0" * 24}
    write_manifest(storage, replace(manifest, identity=other))


def a_changed_bit(run: Path, out: Path) -> None:
    path = next((run / "level-00004").iterdir())
    data = bytearray(path.read_bytes())
    data[3] ^= 1
    path.write_bytes(data)


def a_missing_file(run: Path, out: Path) -> None:
    next((run / "level-00004").iterdir()).unlink()


def a_full_directory(run: Path, out: Path) -> None:
    (out / "states").mkdir(parents=True)


def a_file_there(run: Path, out: Path) -> None:
    out.write_text("mine")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (no_manifest, "holds no run: there is no manifest.json"),
        (no_level, "has no finished level yet"),
        (other_rules, "was begun with other rules"),
        (a_changed_bit, "its checksum differs"),
        (a_missing_file, "is missing"),
        (a_full_directory, "is not empty; name a new directory"),
        (a_file_there, "is a file; name a directory"),
    ],
)
def test_what_cannot_be_exported_is_one_line_and_exit_2_and_leaves_nothing(
    spoil: Callable[[Path, Path], None], says: str, cli: Commands, run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "here" / "out"
    out.parent.mkdir()
    spoil(run, out)
    before = sorted(out.parent.rglob("*"))
    code, printed, err = cli("states", run, "--out", out, name="waterline")

    assert code == 2
    assert printed == ""
    assert says in err
    assert err.count("\n") == 1
    assert sorted(out.parent.rglob("*")) == before


def test_a_uri_is_refused_as_a_place_to_write_to(cli: Commands, run: Path) -> None:
    code, _, err = cli("states", run, "--out", "s3://bucket/states", name="waterline")

    assert code == 2
    assert "--out: s3://bucket/states is no directory of this machine" in err


def test_an_export_that_is_interrupted_leaves_nothing(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exporting, "_describe", interrupt)
    with pytest.raises(KeyboardInterrupt):
        export(str(run), tmp_path / "out", family_of)

    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_run_that_goes_on_can_be_exported(run: Path, tmp_path: Path) -> None:
    """What the manifest names does not change any more; the lock is not asked for."""
    problem = PROBLEMS["atomic"]()
    held = begin(str(tmp_path / "held"), identity_of(problem), problem.model.layout.words)
    engine = engine_for(problem, EngineChoice(name="local"), directory=held)

    def commit(level: Any, account: Account) -> None:
        held.commit(level.files, account.as_values())

    with closing(held), closing(engine):
        search(problem, engine, budgets=Budgets(max_depth=5), commit=commit)
        done = export(str(tmp_path / "held"), tmp_path / "out", family_of)

    assert not done.complete
    assert done.states > 10


def test_a_line_says_how_far_it_is_and_once_that_means_something_how_long_it_takes() -> None:
    assert line_of(Exporting("states", 3, 10, 1000, 0.5)) == "states: level 3, 10 of 1,000"
    assert line_of(Exporting("steps", 9, 400_000, 1_200_000, 4.0)) == (
        "steps: level 9, 400,000 of 1,200,000, 100 k/s, about 8 s left"
    )
