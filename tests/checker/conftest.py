"""What tests of the command line share."""

from __future__ import annotations

import pytest
from told import Told


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Told:
    """Commands on 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return Told(capsys, monkeypatch)
