"""The command on a terminal of its own: it draws, stops, comes back, and leaves it as it was."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.stories import LOSS

ENTERS, LEAVES = b"\x1b[?1049h", b"\x1b[?1049l"
"""What a terminal is told when the whole screen is drawn on, and when that is over."""
SECONDS_MAX = 30.0


@dataclass
class Terminal:
    """A terminal of 80 columns with `waterline view` on it."""

    process: subprocess.Popen[bytes]
    master: int
    slave: int
    written: bytes = b""

    def wait_for(self, text: bytes) -> None:
        """Read what is written until `text` is."""
        end = time.monotonic() + SECONDS_MAX
        while text not in self.written:
            if not select.select([self.master], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TimeoutError(f"{text!r} is not in {self.written[-500:]!r}")
            self.written += os.read(self.master, 1 << 16)

    def forget(self) -> None:
        """Of what is waited for next nothing is written yet."""
        self.written = b""

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self.master, keys)

    def echoes(self) -> bool:
        """Whether what is typed is shown, as in a shell."""
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    program = "from waterline.checker.cli.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "view", str(LOSS)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": ""},
        # A session of its own: its terminal is this one, and what stops it stops nobody else.
        start_new_session=True,
    )
    try:
        yield Terminal(process, master, slave)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        os.close(master)
        os.close(slave)


def test_q_leaves_the_terminal_as_it_was(terminal: Terminal) -> None:
    terminal.wait_for(b"step 0 of 12")
    drawn_without_echo = not terminal.echoes()
    terminal.press(b"q")
    terminal.wait_for(LEAVES)

    assert ENTERS in terminal.written
    assert drawn_without_echo
    assert terminal.process.wait(SECONDS_MAX) == 0
    assert terminal.echoes()


def test_it_stops_comes_back_and_is_ended_by_sigterm(terminal: Terminal) -> None:
    terminal.wait_for(b"step 0 of 12")
    terminal.press(b"\x1a")
    terminal.wait_for(LEAVES)
    _, status = os.waitpid(terminal.process.pid, os.WUNTRACED)
    stopped, echoed = os.WIFSTOPPED(status), terminal.echoes()
    terminal.forget()
    os.kill(terminal.process.pid, signal.SIGCONT)
    terminal.wait_for(b"step 0 of 12")
    terminal.forget()
    os.kill(terminal.process.pid, signal.SIGTERM)
    terminal.wait_for(LEAVES)

    assert stopped
    assert echoed
    assert terminal.process.wait(SECONDS_MAX) == 128 + signal.SIGTERM
    assert terminal.echoes()
