"""A command of the laboratory in this process; pretended brokers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click
import pytest

from lab.conform import walking
from lab.entry import run_here
from tests.lab.pretended_brokers import Deviation, Pretended
from waterline.checker.kafka.confirm import stepping
from waterline.checker.kafka.confirm.facts import Facts, differences
from waterline.checker.kafka.confirm.mapping import TABLE, Act, Row
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release

_OLD = kafka_release("0.10.2.2")

LabCommands = Callable[..., tuple[int, str, str]]


@pytest.fixture
def lab_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> LabCommands:
    def run(command: click.Command, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["lab", *arguments])
        code = run_here(command, "lab")
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Any:
    def row(name: str) -> Row:
        def does(stage: Any, act: Act) -> None:
            stage.doing = name
            stage.acts.append(act)
            wrong = stage.deviates(name, {})
            if isinstance(wrong, Exception):
                raise wrong

        return Row("told.", does if TABLE[name].does else None, TABLE[name].unless)

    def compared(stage: Any, model: Facts, *, seconds: float) -> Any:
        facts = model | (stage.deviates(stage.doing, model) or {})
        return facts, differences(model, facts)

    monkeypatch.setattr(stepping, "row_of", lambda action, release: row(action))
    monkeypatch.setattr(stepping, "compare", compared)
    monkeypatch.setattr(stepping, "observe", lambda stage: {})
    monkeypatch.setattr(stepping, "keep_in_sync", lambda stage, state: None)
    monkeypatch.setattr(walking, "begin", Pretended.begin)

    def made(release: KafkaRelease = _OLD, deviates: Deviation = lambda name, facts: None) -> Any:
        return Pretended(release, deviates)

    return made
