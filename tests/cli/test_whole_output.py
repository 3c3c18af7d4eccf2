"""Output arrives whole, or the command says that it did not, also where Python does not buffer."""

from __future__ import annotations

import fcntl
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

TRACE = Path(__file__).parents[2] / "examples/traces/epoch-no_committed_loss-3r2n2e.json"
MAIN = "import sys; from waterline.checker.cli.cli import main; main()"
CONVERT = (
    "import sys; from waterline.checker.cli.cli import main; "
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


def encoded(encoding: str, *arguments: str, columns: int = 80) -> tuple[int, bytes]:
    """Exit code and output of a command where standard output has this encoding."""
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *arguments],
        env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": str(columns)},
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_verdict_is_said_in_an_encoding_without_its_characters(encoding: str) -> None:
    """On few columns what is cut ends with an ellipsis."""
    bounds = ("--records", "1", "--epochs", "1", "--restarts", "2", "--engine", "local")
    code, out = encoded(encoding, "check", "--protocol", "hw", *bounds, columns=40)

    assert code == 12
    assert b"VIOLATED" in out
    assert b"?" in out
    assert out.isascii()


def test_a_document_is_utf_8_whatever_the_terminal_is() -> None:
    documents = {
        encoded(each, "convert", "--to", "svg", str(TRACE)) for each in ("latin-1", "utf-8")
    }
    [(code, text)] = documents

    assert code == 0
    assert not text.isascii()
    assert text.decode("utf-8")
