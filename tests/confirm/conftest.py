"""What tests of real brokers share: a command in this process."""

from __future__ import annotations

import pytest
from told import Told


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Told:
    return Told(capsys, monkeypatch)
