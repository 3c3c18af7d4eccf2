"""docs/own-models.md: its tutorial, in an empty folder, by the installed package."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.own import EXAMPLES

PAGE = (EXAMPLES.parent / "docs" / "own-models.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.+?)```", PAGE, re.DOTALL))
BLOCKS = re.findall(r"<!-- run -->\n```console\n(.+?)```", PAGE, re.DOTALL)
LEFT_OUT = "[...]\n"
SECONDS = re.compile(r" +(\d+\.\d|kept)$", re.MULTILINE)
"""What the gate's table ends with; it depends on the machine, and on what was asked before."""


def output_of(command: str, folder: Path) -> str:
    """What a command prints in this folder on a pipe of 80 columns, whatever its exit code."""
    others = {"PYTHONPATH", "PYTEST_ADDOPTS"}
    clean = {name: value for name, value in os.environ.items() if name not in others}
    name, *arguments = shlex.split(command)
    return subprocess.run(
        [Path(sys.executable).parent / name, *arguments],
        cwd=folder,
        env=clean | {"COLUMNS": "80"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    ).stdout


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    """In order, in one folder: each piece between two marks of omission occurs as it is."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    shutil.copy(EXAMPLES / "fenced_lease.py", tmp_path)
    missing = []
    for block in BLOCKS:
        for command, shown in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            printed, at = SECONDS.sub("", output_of(command, tmp_path)), 0
            for piece in shown.split(LEFT_OUT):
                found = printed.find(SECONDS.sub("", piece).rstrip("\n"), at)
                missing += [] if found >= 0 else [(command, piece)]
                at = max(at, found)

    assert list(FILES) == ["lease.py", "gate.toml", "test_lease.py"]
    assert missing == []


def test_every_block_of_the_tutorial_is_run_or_written() -> None:
    assert len(BLOCKS) == PAGE.count("```console") == 7
    assert len(FILES) == PAGE.count("```python") + PAGE.count("```toml")


def test_a_model_that_is_begun_runs_as_it_stands(tmp_path: Path) -> None:
    output_of("waterline new lock", tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["lock.py"]
    assert "HOLDS" in output_of("waterline check --model lock.py --engine local", tmp_path)
