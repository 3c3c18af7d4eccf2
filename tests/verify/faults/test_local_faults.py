"""A run that is killed, whose disk is full, or whose directory is another's: processes die."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.command import checked, facts, finished, killed_after, levels_kept, started

ATOMIC = ("--grain", "atomic", "--protocol", "hw", "--replicas", 3, "--engine", "local")


@pytest.fixture(scope="module")
def undisturbed() -> str:
    _, out, _ = checked(*ATOMIC)
    return out


def test_a_killed_run_is_resumed_to_the_same_result(tmp_path: Path, undisturbed: str) -> None:
    directory = tmp_path / "run"
    killed_after(14, directory, started(*ATOMIC, "--run-dir", directory))
    kept = levels_kept(directory)

    code, out, _ = checked("--resume", directory, "--engine", "local", "--threads", 1)

    assert 14 <= kept < 28
    assert code == 12
    assert facts(out) == facts(undisturbed)


def test_a_run_killed_twice_out_of_core_comes_to_the_same_result(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    larger = (*ATOMIC, "--records", 3)
    undisturbed = checked(*larger)[1]
    little = ("--memory", "100M")
    killed_after(12, directory, started(*larger, "--run-dir", directory, *little))
    killed_after(21, directory, started("--resume", directory, "--engine", "local", *little))
    kept = json.loads((directory / "manifest.json").read_text())

    code, out, _ = checked("--resume", directory, "--engine", "local")

    assert "disk" in {level["on"] for level in kept["levels"]}
    assert code == 12
    assert facts(out) == facts(undisturbed)


def test_two_runs_in_one_directory_do_not_meet(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    first = started(*ATOMIC, "--epochs", 3, "--run-dir", directory, "--max-time", 20)
    while levels_kept(directory) < 3:
        assert first.poll() is None
    second = checked("--resume", directory, "--engine", "local")
    third = checked(*ATOMIC, "--run-dir", directory)
    first.terminate()
    finished(first)

    for code, out, err in (second, third):
        assert (code, out) == (2, "")
        assert f"{directory} is in use by another run (process {first.pid} on" in err


def test_a_full_disk_ends_the_run_and_room_lets_it_go_on(
    small_disk: Path, undisturbed: str
) -> None:
    directory = small_disk / "run"
    code, out, err = checked(*ATOMIC, "--run-dir", directory)
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    resumed, again, _ = checked("--resume", directory, "--engine", "local")

    assert (code, out) == (2, "")
    assert f"there is no room left for {directory}/" in err
    assert "(No space left on device); free some" in err
    assert f"levels are kept in {directory}; go on with --resume {directory}" in err
    assert err.count("\n") == 1
    assert resumed == 12
    assert facts(again) == facts(undisturbed)
