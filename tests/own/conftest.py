"""What tests of models of one's own share."""

from __future__ import annotations

from pathlib import Path

import pytest
from told import Told


@pytest.fixture
def told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Told:
    """Commands on 80 columns, in a folder of their own."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return Told(capsys, monkeypatch)
