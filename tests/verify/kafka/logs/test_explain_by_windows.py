"""`explain-logs --windows`: what brokers wrote is explained epoch by epoch, as one behaviour."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tests.kafka.logs.test_explain_by_windows import RECORDED
from waterline.checker.cli.commands import waterline


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("3.9.1-c21", 12, "A behaviour of all windows fits; it loses an acknowledged record."),
        ("3.9.1-control", 0, "fits that loses no acknowledged record"),
    ],
)
def test_recorded_logs_are_explained_epoch_by_epoch(name: str, code: int, said: str) -> None:
    arguments = ["explain-logs", str(RECORDED / name), "--windows", "1", "--max-time", "60"]
    outcome = CliRunner().invoke(
        waterline, [*arguments, "--max-states", "1900"], standalone_mode=False
    )
    text = " ".join(outcome.output.split())
    assert outcome.return_value == code, outcome.output
    assert said in text
    assert "Epoch 1: fits" in text
