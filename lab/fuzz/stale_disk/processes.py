"""Commands in processes of their own that need not import the program: they are forked.

`python -m lab.fuzz.stale_disk.processes` imports what commands need and then, for each line of JSON
on its input, forks. The child runs the command in the folder and with the environment of the line.
As the parent never runs one, a child knows nothing of the commands before it but what is on disk.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

PRELOADED = (
    "waterline.checker.cli.check",
    "waterline.checker.cli.checking",
    "waterline.checker.cli.gate",
    "waterline.checker.cli.gate_run",
    "waterline.checker.search.engines.memory",
    "waterline.checker.search.engines.workers",
    "waterline.checker.ci.searching",
    "waterline.checker.ci.updating",
    "waterline.checker.user_models.family",
    "waterline.checker.user_models.vetting",
    "waterline.checker.checking.run",
)
"""What the parent imports, to save time; what is not here, or not any more, the child imports."""


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a command."""

    code: int
    out: str
    err: str


class Commands:
    """Runs commands, each in a fresh process: `commands(folder, "check", ...)`."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None

    def __enter__(self) -> Commands:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}
        self._server = subprocess.Popen(
            [sys.executable, "-m", "lab.fuzz.stale_disk.processes"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[3],
            env=environment,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.communicate()

    def __call__(
        self, folder: Path, *command: str, environment: Mapping[str, str] | None = None
    ) -> Done:
        """Run one. Modules beside the model are found, as with PYTHONPATH=`folder`."""
        assert self._server is not None
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        asked = {"folder": str(folder), "command": command, "environment": environment or {}}
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        return Done(**json.loads(self._server.stdout.readline()))


def main() -> None:
    """Serve until the input ends."""
    for name in ("waterline.checker.cli.commands", *PRELOADED):
        with suppress(ImportError):
            importlib.import_module(name)
    _settle()
    for line in sys.stdin:
        asked = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                _run(asked["folder"], asked["command"], asked["environment"], (out, err))
            _, status = os.waitpid(child, 0)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode(errors="replace"))
        code = os.waitstatus_to_exitcode(status)
        print(json.dumps({"code": code, "out": texts[0], "err": texts[1]}), flush=True)


def _settle() -> None:
    """Let sources of a fresh checkout count as settled, so that all that can be kept is kept."""
    with suppress(ImportError):
        sources: Any = importlib.import_module("waterline.checker.compiler.sources")
        sources.SETTLED_SECONDS = float("-inf")


def _run(
    folder: str, command: Sequence[str], environment: Mapping[str, str], files: Sequence[Any]
) -> None:
    """Be the command, and end."""
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, file in enumerate(files, 1):
            os.dup2(file.fileno(), number)
        os.environ.update(environment)
        os.chdir(folder)
        for place in reversed(environment.get("PYTHONPATH", folder).split(os.pathsep)):
            sys.path.insert(0, place)
        importlib.invalidate_caches()
        sys.argv = list(command)
        commands = importlib.import_module("waterline.checker.cli.commands")
        code = commands.run_command(command[0])
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
