"""What tests of exported modules share."""

from __future__ import annotations

import pytest

from tests.support.commands import Commands


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Commands on 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return Commands(capsys, monkeypatch)
