"""Output arrives whole, or the command says that it did not, also where Python does not buffer."""

from __future__ import annotations

import fcntl
import os
import resource
import subprocess
import sys
from pathlib import Path

TRACE = Path(__file__).parents[2] / "examples/traces/epoch-no_committed_loss-3r2n2e.json"
MAIN = "import sys; from checker.cli.cli import main; main()"
CONVERT = (
    "import sys; from checker.cli.cli import main; "
    f"sys.argv = ['waterline', 'convert', '--to', 'html', {str(TRACE)!r}]; main()"
)
BYTES_MAX = 4096


def unbuffered(stdout: int, *, limited: bool = False) -> subprocess.Popen[str]:
    """A command of much output with Python's own buffers off, as containers have it."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (BYTES_MAX, BYTES_MAX))

    return subprocess.Popen(
        [sys.executable, "-c", CONVERT],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=limit if limited else None,  # noqa: PLW1509 - no threads run yet
    )


def test_output_that_finds_no_room_is_an_error_in_one_line(tmp_path: Path) -> None:
    """The first write is a short one; only the next says why."""
    with (tmp_path / "out").open("wb") as file:
        process = unbuffered(file.fileno(), limited=True)
        _, err = process.communicate(timeout=60)

    assert (process.returncode, err.count("\n")) == (2, 1)
    assert "File too large" in err


def test_a_few_lines_on_a_full_disk_are_an_error_in_one_line() -> None:
    """They stay in a buffer, which is written again at the end: nothing is told of that."""
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-c", MAIN, "layout", "--protocol", "hw"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "there is no room left for what is printed" in done.stderr


def test_a_pipe_that_does_not_wait_gets_all_of_the_output() -> None:
    """Whoever shares the pipe may have set it so; it takes a page at a time here."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, BYTES_MAX)
    os.set_blocking(writing, False)
    process = unbuffered(writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        got = pipe.read()
    _, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (0, "")
    assert len(got) > BYTES_MAX
    assert got.rstrip().endswith(b"</html>")
