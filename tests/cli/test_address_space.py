"""A limit on address space, as `ulimit -v` or a batch system sets it, is no reason not to run."""

from __future__ import annotations

import resource
import subprocess
import sys

MAIN = "import sys; from waterline.checker.cli.cli import main; main()"
LIMIT_BYTES = 3 << 30


def test_three_gigabytes_of_address_space_are_enough_for_a_small_space() -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))

    options = ["check", "--protocol", "hw", "--engine", "local", "--threads", "2"]
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *options],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )

    assert done.stderr.count("error") == 0, done.stderr
    assert done.returncode == 12
    assert "every reachable state within the bounds" in done.stdout
