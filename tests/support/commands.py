"""A command in this process: what it printed, and its exit code."""

from __future__ import annotations

import sys

import pytest

from waterline.checker.cli import commands


class Commands:
    """Runs `check`, or another command by `name`."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, *arguments: object, name: str = "check") -> tuple[int, str, str]:
        self._monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        code = commands.run_command(name)
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err
