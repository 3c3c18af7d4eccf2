"""docs/testing.md: its blocks, in an empty folder; and the walks of Hypothesis."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

import waterline.testing
from tests.covering.test_testing import Adapter
from tests.support.live import lease_text, live
from tests.support.own import EXAMPLES

PAGE = (EXAMPLES.parent / "docs" / "testing.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"<!-- file: (\S+) -->\n```python\n(.+?)```", PAGE, re.DOTALL))
COMMANDS = re.findall(r"<!-- run -->\n```console\n\$ (.+?)\n(.*?)```", PAGE, re.DOTALL)


def run(command: str, folder: Path) -> str:
    name, *arguments = command.split()
    done = subprocess.run(
        [Path(sys.executable).parent / name, *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout + done.stderr


def test_the_page_is_what_happens(tmp_path: Path) -> None:
    for name, text in {"lease.py": lease_text(), **FILES}.items():
        (tmp_path / name).write_text(text)
    (paths, said), (tests, _) = COMMANDS

    assert run(paths, tmp_path) == said
    failing = run(tests, tmp_path)
    server = tmp_path / "lease_server.py"
    server.write_text(server.read_text().replace("token < 1", "token < max(1, self.highest)"))
    passing = run(tests, tmp_path)

    assert "18 failed, 26 passed" in failing
    for line in PAGE.split("short trace:\n\n")[1].split("\n\nMend")[0].splitlines():
        assert line.strip() in failing
    assert "44 passed" in passing


def test_walks_find_a_missing_check_and_nothing_in_a_right_server(tmp_path: Path) -> None:
    (tmp_path / "lease.py").write_text(lease_text())
    lease = live(tmp_path / "lease.py").function
    few = settings(max_examples=20, stateful_step_count=15, deadline=None, derandomize=True)

    machine = waterline.testing.state_machine(lease, Adapter, clients=2, fenced=True)
    run_state_machine_as_test(machine, settings=few)
    reentrant = waterline.testing.state_machine(
        lease, lambda: Adapter("reentrant"), clients=2, fenced=True
    )
    with pytest.raises(waterline.testing.Differs):
        run_state_machine_as_test(reentrant, settings=few)
