"""Ctrl-C ends a command at once, whatever it is doing, and what was found out is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import psutil
import pytest

from waterline.checker.compiler.cache import read_sealed

MAIN = "from waterline.checker.cli.cli import main; main()"
ENDLESS = """restarts = 15
moves = 15
requests-survive = true
late-metadata = true
power-losses = 3
max-time = 100
"""
"""Tens of millions of states of the shape that all tests have compiled."""


def entry(name: str, more: str = "") -> str:
    verdicts = 'verdicts = { no_committed_loss = "holds" }'
    return f'[[expect]]\nname="{name}"\nprotocol="epoch"\nengine="local"\n{more}{verdicts}\n'


def interrupted_at(
    sign: str, told: Path, *arguments: object, wait_seconds: float = 0.0, **environment: str
) -> tuple[int, str]:
    """Exit code and output of a command that is sent Ctrl-C after it has said `sign`."""
    with told.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            start_new_session=True,
            env={**os.environ, "COLUMNS": "80", **environment},
            preexec_fn=_default_interrupt,  # noqa: PLW1509 - a test runner may ignore the signal
        )
        until = time.monotonic() + 120
        while sign not in told.read_text():
            assert process.poll() is None, told.read_text()
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(wait_seconds)
        os.killpg(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    return process.returncode, out


def _default_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_ends_the_whole_gate_and_shows_what_was_judged(tmp_path: Path) -> None:
    gate, junit, told = tmp_path / "gate.toml", tmp_path / "junit.xml", tmp_path / "stderr"
    gate.write_text(entry("first") + entry("endless", ENDLESS) + entry("last", "records = 1\n"))
    code, out = interrupted_at(
        "on local: frontier", told, "gate", gate, "--jobs", 1, "--no-cache", "--junit", junit
    )
    suite = ET.parse(junit).getroot()

    assert code == 20
    assert "first" in out
    assert "endless" not in out
    assert "last" not in out
    assert "interrupted: 1 of 3 were judged" in told.read_text()
    assert "last" not in told.read_text().replace(str(tmp_path), "")
    assert (suite.attrib["tests"], suite.attrib["errors"]) == ("3", "2")
    assert len(list(suite.iter("error"))) == 2


def test_ctrl_c_ends_searches_side_by_side_and_their_processes(tmp_path: Path) -> None:
    gate, told = tmp_path / "gate.toml", tmp_path / "stderr"
    gate.write_text(
        entry("first") + entry("endless", ENDLESS) + entry("more", f"epochs=3\n{ENDLESS}")
    )
    before = {process.pid for process in psutil.process_iter()}
    code, out = interrupted_at(
        "more ...", told, "gate", gate, "--jobs", 2, "--no-cache", wait_seconds=1.0
    )
    left = [p for p in psutil.process_iter(["cmdline"]) if p.pid not in before and _is_ours(p)]

    assert code == 20
    assert "first" in out
    assert "interrupted: 1 of 3 were judged" in told.read_text()
    assert "Traceback" not in told.read_text()
    assert left == []


def _is_ours(process: psutil.Process) -> bool:
    command = " ".join(process.info["cmdline"] or [])
    return "child_processes" in command and sys.executable in command


@pytest.mark.parametrize("seconds", [0.0, 0.1])
def test_ctrl_c_while_compiling_is_one_line(seconds: float, tmp_path: Path) -> None:
    told, cache = tmp_path / "stderr", tmp_path / "cache"
    command = ("check", "--protocol", "elr", "--replicas", 3, "--records", 3, "--engine", "local")
    code, out = interrupted_at(
        "compiling", told, *command, wait_seconds=seconds, WATERLINE_CACHE=str(cache)
    )
    compiling, *rest = told.read_text().split("\n")

    assert (code, out) == (20, "")
    assert compiling.startswith("compiling the rules")
    assert "".join(rest) == "interrupted, nothing may be concluded: INCOMPLETE"
    # A program that was compiled in full before the interrupt may stay. All that stays is whole.
    for path in (cache / "kernels").glob("*"):
        assert read_sealed(path, bytes_max=2**30) is not None, path
