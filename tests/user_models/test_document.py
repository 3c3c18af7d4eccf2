"""docs/own-models.md: its tutorial, in an empty folder, by the installed package."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.support.own import EXAMPLES

PAGE = (EXAMPLES.parent / "docs" / "own-models.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.+?)```", PAGE, re.DOTALL))
BLOCKS = re.findall(r"<!-- run -->\n```console\n(.+?)```", PAGE, re.DOTALL)


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


def test_every_block_of_the_tutorial_is_run_or_written() -> None:
    assert len(BLOCKS) == PAGE.count("```console") > 0
    assert len(FILES) == PAGE.count("```python") + PAGE.count("```toml")


def test_a_model_that_is_begun_runs_as_it_stands(tmp_path: Path) -> None:
    output_of("waterline new lock", tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["lock.py"]
    assert "HOLDS" in output_of("waterline check --model lock.py --engine local", tmp_path)
