"""A command in this process."""

from __future__ import annotations

import pytest

from tests.support.commands import Commands


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(capsys, monkeypatch)
