"""Types: mypy --strict over all packages. A test, so that it runs beside others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_all_packages_are_typed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "no issues found" in done.stdout
