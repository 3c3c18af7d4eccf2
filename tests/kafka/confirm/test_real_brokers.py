"""The loss of `hw`, and a short walk, on unchanged brokers of Kafka 0.10.2.2.

Nothing of them is left.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from checker.kafka.confirm.errors import CannotConfirm
from checker.kafka.confirm.jars import require_brokers

ROOT = Path(__file__).parents[3]
TRACE = ROOT / "examples" / "traces" / "scenarios" / "kip-101-loss.json"
COMMAND = [sys.executable, "-c", "from checker.cli.cli import main; main()"]
SECONDS_MAX = 120

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def brokers_can_be_had() -> None:
    try:
        require_brokers("0.10.2.2")
    except CannotConfirm as reason:
        pytest.skip(str(reason))


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *(arguments or ("confirm", str(TRACE))), "--kafka", "0.10.2.2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(folder), "COLUMNS": "100"},
        preexec_fn=_usual_interrupt,  # noqa: PLW1509 - no threads run yet
    )


def _usual_interrupt() -> None:
    """A test runner in the background may ignore the signal, and its children with it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def left_of(folder: Path) -> list[str]:
    """Processes that have files in `folder`, and the folders that are there still."""
    processes = [
        " ".join(process.info["cmdline"][:3])
        for process in psutil.process_iter(["cmdline"])
        if any(str(folder) in part for part in process.info["cmdline"] or [])
    ]
    return processes + [path.name for path in folder.glob("waterline-confirm-*")]


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
