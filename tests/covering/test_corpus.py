"""`waterline paths`: a corpus that another program can replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import waterline
from tests.support.commands import Commands
from tests.support.live import lease_text, live
from tests.support.own import EXAMPLES


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(capsys, monkeypatch)


LEASE = str(EXAMPLES / "fenced_lease.py")


def written(run: Commands, tmp_path: Path, *options: str) -> list[dict[str, Any]]:
    file = tmp_path / "corpus.jsonl"
    code, _, err = run("paths", *options, "--output", file, name="waterline")
    assert code == 0, err
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_corpus_replays_in_plain_python(run: Commands, tmp_path: Path) -> None:
    head, *paths = written(
        run, tmp_path, "--model", LEASE, "--set", "leases=2", "--cover", "states"
    )
    model = live(EXAMPLES / "fenced_lease.py", leases=2)
    actions = {action.name: action.function for action in model.actions}

    assert (head["protocol"], head["cover"], len(paths)) == ("fenced_lease", "states", 40)
    for path in paths:
        state, fields = waterline.initial(model), path["initial"]
        for step in path["steps"]:
            state = waterline.step(state, actions[step["action"]], **step["arguments"])
            fields |= step["after"]
            assert {name: plain(getattr(state, name)) for name in fields} == fields


def plain(value: object) -> object:
    return value if value is None or isinstance(value, int) else list(value)


def test_words_none_sets_and_structs_are_data(run: Commands, tmp_path: Path) -> None:
    _, *paths = written(
        run, tmp_path, "--model", str(EXAMPLES / "two_phase_commit.py"), "--cover", "calls"
    )

    first = paths[0]["initial"]
    assert first["tm_state"] == "init"
    assert all(state == "working" for state in first["rm_state"])


def test_kafkas_paths_are_real_within_bounds(run: Commands, tmp_path: Path) -> None:
    small = "--protocol hw --records 1 --epochs 1 --restarts 0 --moves 0 --cover calls"

    head, *paths = written(run, tmp_path, *small.split())

    assert head["protocol"] == "hw"
    assert {step["action"] for path in paths for step in path["steps"]} >= {"Produce", "SendFetch"}


def test_check_compares_and_says_which_file_is_old(run: Commands, tmp_path: Path) -> None:
    file = tmp_path / "lease.py"
    file.write_text(lease_text())
    corpus = tmp_path / "corpus.jsonl"
    asked = ["paths", "--model", str(file), "--output", str(corpus)]

    missing = run(*asked, "--check", name="waterline")
    assert run(*asked, name="waterline")[0] == 0
    same = run(*asked, "--check", name="waterline")
    file.write_text(lease_text().replace("when(s.holder is None)", "when(s.granted < 2)"))
    old = run(*asked, "--check", name="waterline")

    assert (missing[0], same[0], old[0]) == (2, 0, 3)
    assert "cannot be read" in missing[2]
    assert "covers the model" in same[2]
    assert "is old: the model or an option has changed" in old[2]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--up-to", "clients"], "fenced_lease has no sort 'clients'; did you mean client?"),
        (["--longest", "0"], "0 is not in the range"),
    ],
)
def test_a_wrong_option_is_one_line(
    run: Commands, tmp_path: Path, options: list[str], error: str
) -> None:
    code, _, err = run(
        "paths", "--model", LEASE, "--output", tmp_path / "x", *options, name="waterline"
    )

    assert code == 2
    assert error in " ".join(err.split())
