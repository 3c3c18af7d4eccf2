"""What tests of the gate share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Commands


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Commands:
    """Commands in a folder of their own."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return Commands(capsys, monkeypatch)
