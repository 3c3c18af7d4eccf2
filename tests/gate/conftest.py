"""What tests of the gate share."""

from __future__ import annotations

from pathlib import Path

import pytest
from told import Told


@pytest.fixture
def told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Told:
    """Commands in a folder of their own."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return Told(capsys, monkeypatch)
