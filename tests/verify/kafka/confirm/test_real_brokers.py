"""The loss of `hw` on unchanged brokers of Kafka 0.10.2.2, of which nothing is left."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.verify.kafka.confirm.real_brokers import SECONDS_MAX, interrupted, left_of, started
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import require_brokers

pytestmark = pytest.mark.brokers


@pytest.fixture(scope="module", autouse=True)
def brokers_can_be_had() -> None:
    try:
        require_brokers("0.10.2.2")
    except CannotConfirm as reason:
        pytest.skip(str(reason))


def test_hw_loses_an_acknowledged_record_on_real_brokers(tmp_path: Path) -> None:
    process = started(tmp_path)
    out, err = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 0, err
    assert "Acknowledged to the producer: m1." in out
    assert "a consumer reads from leader r1: none." in out
    assert "m1 was acknowledged, and is in no broker's log." in out
    assert re.search(
        r"^CONFIRMED on Kafka 0\.10\.2\.2 in \d+ s: acknowledged_durable", out, re.MULTILINE
    )
    assert left_of(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_brokers_and_leaves_no_file(
    number: signal.Signals, tmp_path: Path
) -> None:
    process = started(tmp_path)
    assert process.stderr is not None
    for line in process.stderr:
        if "brokers" in line:
            break
    out, err, stood = interrupted(process, number)

    assert process.returncode == 20, f"{stood}\n{err}"
    assert out == ""
    assert left_of(tmp_path) == []
