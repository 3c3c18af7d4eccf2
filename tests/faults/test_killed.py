"""A run that is killed in the middle is resumed to the same counts. tests/verify has every way."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from lab.fuzz.faults.attempts import Attempt, undergone
from lab.fuzz.faults.dying import Death
from lab.fuzz.faults.exhaustive import LOCAL, OVER_FILES, SPACE
from lab.fuzz.faults.ready import make_ready
from tests.support.command import facts
from tests.support.commands import Commands


@pytest.mark.parametrize(
    ("engine", "files_from", "call", "places"),
    [(LOCAL, None, 130, {"local"}), (OVER_FILES, 20, 260, {"local", "disk"})],
    ids=["in memory", "over files"],
)
def test_a_killed_run_is_resumed_to_the_same_result(
    engine: tuple[str, ...],
    files_from: int | None,
    call: int,
    places: set[str],
    tmp_path: Path,
    cli: Commands,
) -> None:
    make_ready([SPACE])
    run = tmp_path / "run"
    _, whole, _ = cli(*SPACE, *LOCAL, "--format", "json")
    arguments = (*SPACE, *engine, "--run-dir", str(run))
    killed = undergone(Attempt(arguments=arguments, files_from=files_from, death=Death(call)))
    kept = json.loads((run / "manifest.json").read_text())["levels"]

    code, resumed, _ = cli("--resume", run, *LOCAL, "--format", "json")

    assert (killed.code, code) == (-signal.SIGKILL, 12)
    assert {level["on"] for level in kept} == places
    assert 4 < len(kept) < 11
    assert facts(resumed) == facts(whole)
