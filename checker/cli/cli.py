"""The console scripts. Everything else is imported inside, so that even Ctrl-C during the imports
ends a command in one line.
"""

from __future__ import annotations

import sys


def main() -> None:
    """The console script `waterline`."""
    sys.exit(_run("waterline"))


def check_main() -> None:
    """The console script `check`, short for `waterline check`."""
    sys.exit(_run("check"))


def _run(name: str) -> int:
    try:
        from waterline.checker.cli.commands import run_command  # noqa: PLC0415 - a second of imports

        return run_command(name)
    except KeyboardInterrupt:
        print("interrupted, nothing may be concluded: INCOMPLETE", file=sys.stderr)  # noqa: T201
        return 20
