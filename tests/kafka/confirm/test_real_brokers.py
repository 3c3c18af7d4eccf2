"""A short walk on unchanged brokers of Kafka 0.10.2.2; nothing of them is left.

The loss of `hw` is shown by `make confirm`, which CI runs as well.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from checker.kafka.confirm.errors import CannotConfirm
from checker.kafka.confirm.jars import require_brokers
from tests.kafka.confirm.real_brokers import SECONDS_MAX, left_of, started

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def brokers_can_be_had() -> None:
    try:
        require_brokers("0.10.2.2")
    except CannotConfirm as reason:
        pytest.skip(str(reason))


def test_walks_on_real_brokers_agree_with_the_model(tmp_path: Path) -> None:
    walks = ("conform", "--circumstances", "crashes", "--walks", "2", "--steps", "12", "--no-cover")
    process = started(tmp_path, *walks)
    out, err = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 0, out + err
    assert "2 walks on Kafka 0.10.2.2, seed 1" in out
    assert re.search(r"^(1[2-9]|2\d) steps compared in \d+ s, 0 disagreements$", out, re.MULTILINE)
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
    process.send_signal(number)
    out, err = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 20, err
    assert out == ""
    assert left_of(tmp_path) == []
