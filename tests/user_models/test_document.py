"""docs/own-models.md: its two commands, in an empty folder, by the installed package."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.support.own import EXAMPLES

PAGE = (EXAMPLES.parent / "docs" / "own-models.md").read_text()


def test_a_model_is_begun_and_checked_in_the_two_commands_shown(tmp_path: Path) -> None:
    (block,) = re.findall(r"```console\n(.+?)```", PAGE, re.DOTALL)
    commands = [line.removeprefix("$ ") for line in block.splitlines()]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = [
        subprocess.run(
            [Path(sys.executable).parent / "waterline", *shlex.split(command)[1:]],
            cwd=tmp_path,
            env=clean,
            capture_output=True,
            text=True,
            check=False,
        )
        for command in commands
    ]

    assert len(commands) == 2
    assert all(command.startswith("waterline ") for command in commands)
    assert [each.returncode for each in done] == [0, 0], done
    assert [path.name for path in tmp_path.iterdir()] == ["lease.py"]
    assert "HOLDS" in done[1].stdout


def test_the_page_shows_the_example_as_it_is() -> None:
    source = (EXAMPLES / "two_phase_commit.py").read_text()
    (shown,) = re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)
    lines = [line for line in shown.splitlines() if line.strip() not in {"", "...", "...,"}]
    whole = [line for line in lines if "=[" not in line and "import" not in line]

    assert len(whole) > 12
    assert [line for line in whole if line not in source] == []
