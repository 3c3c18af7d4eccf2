"""Commands that start real brokers, in a process of their own, and what they leave behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[4]
TRACE = ROOT / "examples" / "traces" / "scenarios" / "kip-101-loss.json"
WATERLINE = "waterline.checker.cli.cli"
"""A module with a `main`."""
SECONDS_MAX = 120


def command_of(module: str) -> list[str]:
    noting = "import faulthandler, signal; faulthandler.register(signal.SIGUSR1, all_threads=True)"
    return [
        sys.executable,
        "-c",
        f"{noting}; import sys; from {module} import main; sys.exit(main())",
    ]


def started(
    folder: Path, *arguments: str, kafka: str = "0.10.2.2", module: str = WATERLINE
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command_of(module), *(arguments or ("confirm", str(TRACE))), "--kafka", kafka],
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


def interrupted(process: subprocess.Popen[str], number: signal.Signals) -> tuple[str, str, str]:
    """Interrupt a command; what it printed, its errors, and how it stood when the signal came.

    Its errors have where each thread was then: the signal before asks for that.
    """
    stood = _standing(process.pid)
    process.send_signal(signal.SIGUSR1)
    process.send_signal(number)
    try:
        out, err = process.communicate(timeout=SECONDS_MAX)
    except subprocess.TimeoutExpired:
        later = _standing(process.pid)
        process.send_signal(signal.SIGUSR1)
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        stood = f"{stood}\nand it went on for {SECONDS_MAX} s; then: {later}"
    return out, err, stood


def _standing(number: int) -> str:
    """Which signals a process handles, ignores and blocks (Linux), and which processes it has."""
    try:
        lines = Path(f"/proc/{number}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = []
    signals = [line for line in lines if line.startswith(("SigCgt", "SigIgn", "SigBlk", "SigPnd"))]
    children = [
        f"{child.pid} {child.status()} {' '.join(child.cmdline()[-3:])}"
        for child in psutil.Process(number).children(recursive=True)
    ]
    return "\n".join([f"process {number}", *signals, *children])


def left_of(folder: Path) -> list[str]:
    """Processes that have files in `folder`, and the folders that are there still."""
    processes = [
        " ".join(process.info["cmdline"][:3])
        for process in psutil.process_iter(["cmdline"])
        if any(str(folder) in part for part in process.info["cmdline"] or [])
    ]
    return processes + [path.name for path in folder.glob("waterline-confirm-*")]
