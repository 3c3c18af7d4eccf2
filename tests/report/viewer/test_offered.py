"""What `check` offers after a violation: only where keys can be pressed, and it never waits."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from waterline.checker.cli import checking
from waterline.checker.cli import view as view_command
from waterline.checker.cli.commands import command_of
from waterline.checker.cli.shared import exit_codes
from waterline.checker.traces.finding import Finding
from waterline.model.core.claim import ActionProperty, Invariant

LOSS = "--protocol hw --acks 1 --records 1 --epochs 1 --restarts 1 --engine local"
CLAIM = "acknowledged_durable"


def run(*options: str, interactive: bool, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The claims whose counterexamples were viewed."""
    viewed = []

    def view(finding: Finding, claim: Invariant | ActionProperty) -> int:
        viewed.append(f"{finding.invariant} {claim.name}")
        return 0

    monkeypatch.setattr(checking, "is_interactive", lambda: interactive)
    monkeypatch.setattr(view_command, "view", view)
    arguments = [*shlex.split(LOSS), "--invariant", CLAIM, *options]
    assert command_of("check").main(arguments, standalone_mode=False) == exit_codes.VIOLATED
    return viewed


def test_view_is_for_who_can_press_keys(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = run("--view", interactive=True, monkeypatch=monkeypatch)
    capsys.readouterr()
    into_a_pipe = run("--view", interactive=False, monkeypatch=monkeypatch)
    said_into_a_pipe = capsys.readouterr().err
    not_asked = run(interactive=True, monkeypatch=monkeypatch)
    said = capsys.readouterr().err
    run("--trace-dir", str(tmp_path), interactive=True, monkeypatch=monkeypatch)
    said_of_a_file = capsys.readouterr().err

    assert asked == [f"{CLAIM} {CLAIM}"]
    assert into_a_pipe == not_asked == []
    assert "step through" not in said_into_a_pipe
    assert "add --view to step through the counterexample" in said
    assert f"waterline view {tmp_path}/hw-{CLAIM}-2r1n1e.json" in said_of_a_file.replace("\n", "")


def test_json_offers_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    viewed = run("--view", "--format", "json", interactive=True, monkeypatch=monkeypatch)

    assert viewed == []
    assert "step through" not in capsys.readouterr().err
