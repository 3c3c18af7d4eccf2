"""Ctrl-C ends a search, and what was found until then is shown as incomplete."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

RUN_CHECK = "from waterline.checker.cli.cli import check_main; check_main()"
LONG = ["--protocol", "epoch", "--records", "4", "--epochs", "3", "--restarts", "15"]


@pytest.mark.parametrize(
    ("engine", "shown"),
    [
        (["--engine", "local"], "on local: frontier"),
        pytest.param(
            ["--engine", "spark", "--master", "local[2]", "--driver-levels", "1"],
            "on spark: frontier",
            marks=pytest.mark.spark,
        ),
    ],
    ids=["local", "spark"],
)
def test_ctrl_c_prints_the_summary_so_far_as_incomplete_and_leaves_no_process(
    engine: list[str], shown: str, tmp_path: Path
) -> None:
    """The whole process group gets the signal, as from a terminal."""
    told = tmp_path / "stderr"
    with told.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-c", RUN_CHECK, *LONG, *engine],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
            preexec_fn=_default_interrupt,  # noqa: PLW1509 - a test runner may ignore the signal
        )
        deadline = time.monotonic() + 180
        while shown not in told.read_text() and time.monotonic() < deadline:
            assert process.poll() is None, told.read_text()
            time.sleep(0.2)
        children = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    _, alive = psutil.wait_procs(children, timeout=10)

    assert process.returncode == 20
    assert "INCOMPLETE" in out
    assert "HOLDS" not in out
    assert "interrupt (Ctrl-C)" in out
    assert "Traceback" not in told.read_text()
    assert alive == []


def _default_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
