"""What tests of real brokers share: a command in this process, and brokers that only pretend."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kafka.confirm.pretended_brokers import Deviation, Pretended
from tests.support.commands import Commands
from waterline.checker.kafka.confirm import stepping, walking
from waterline.checker.kafka.confirm.facts import Facts, differences
from waterline.checker.kafka.confirm.mapping import TABLE, Act, Row
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release

_OLD = kafka_release("0.10.2.2")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(capsys, monkeypatch)


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
