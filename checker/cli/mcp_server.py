"""A server of the Model Context Protocol: each tool is a command, in a process of its own.

A result is what the command prints for programs. A mistake is its line on standard error. Only a
server that allows it runs a model file. Of the working folder nothing else is run.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from waterline.checker.cli.shared import exit_codes
from waterline.checker.problem.distribution import version
from waterline.checker.search.engines.processes import program

Bounds = dict[str, int | bool]
_MISTAKES = (exit_codes.BAD_USAGE, exit_codes.INTERNAL_ERROR)


def serve(*, allow_models: bool, max_time: int) -> None:
    """Answer calls until standard input ends; SIGTERM ends what runs as well."""
    tools = Tools(allow_models, max_time)
    server = MCPServer("waterline", version=version(), log_level="ERROR")
    for tool in (tools.check, tools.explain, tools.step, tools.mutate):
        server.add_tool(tool, structured_output=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    server.run("stdio")


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools. `max_time` are the seconds that a call may take."""

    allow_models: bool
    max_time: int

    async def check(
        self,
        model: str = "",
        bounds: Bounds | None = None,
        protocol: str = "",
        scenario: str = "",
        environment: str = "",
    ) -> str:
        """Explore every state; say which claims hold, with a counterexample of each that does not.

        Give `model`, a Python file, with `bounds` by name; or of Kafka a `protocol` such as kip320,
        a `scenario` of the catalogue, a named `environment`. The answer is a waterline-result/1.
        """
        problem = [*self._problem(model, bounds, protocol)]
        problem += _options_of(scenario=scenario, environment=environment)
        return await self._run("check", *problem, "--engine=local", "--format=json")

    async def explain(self, trace: dict[str, Any], model: str = "") -> str:
        """Say which steps a counterexample needs, and which single change prevents it.

        `trace` is the object of a result of check; `model` is its file, unless it is of Kafka. The
        answer is a waterline-explanation/1.
        """
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "trace.json"
            file.write_text(json.dumps(trace), encoding="utf-8")
            options = [*self._model(model), "--format=json"]
            return await self._run("explain", *options, str(file))

    async def step(
        self,
        steps: list[str],
        model: str = "",
        bounds: Bounds | None = None,
        protocol: str = "",
    ) -> str:
        """Take these steps from the initial state, and list those that can follow.

        A step is a line of a script, `grant client=0`; no step lists those that can begin.
        """
        problem = [*self._problem(model, bounds, protocol)]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "steps.txt"
            file.write_text("".join(f"{each}\n" for each in steps), encoding="utf-8")
            return await self._run("run", *problem, f"--script={file}")

    async def mutate(self, model: str, bounds: Bounds | None = None, only: str = "") -> str:
        """Alter one place of a model at a time, and say which claim notices.

        `only` is guards, conditions or effects. A mutant that survives shows a claim that lacks.
        """
        self._model(model)
        options = [*_settings(bounds), *_options_of(only=only), "--format=json"]
        return await self._run("mutate", *options, "--", model)

    def _problem(self, model: str, bounds: Bounds | None, protocol: str) -> Iterator[str]:
        yield from self._model(model)
        yield from _settings(bounds)
        yield from _options_of(protocol=protocol)

    def _model(self, model: str) -> list[str]:
        """The option of a model file. Raises `ToolError` where none may be run."""
        if model and not self.allow_models:
            raise ToolError(
                f"{model} is a program, which this server may not run; start it with --allow-models"
            )
        return list(_options_of(model=model))

    async def _run(self, *arguments: str) -> str:
        """Return what a command prints. Raises `ToolError` for a mistake, and for want of time."""
        process = await asyncio.create_subprocess_exec(
            *program(*arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), self.max_time)
        except TimeoutError:
            raise ToolError(
                f"{arguments[0]} took more than {self.max_time} s; lower the bounds, or start the "
                "server with a higher --max-time"
            ) from None
        finally:
            with suppress(ProcessLookupError):  # it has ended, with all that it started
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if process.returncode in _MISTAKES or not out:
            raise ToolError(err.decode().strip())
        return out.decode()


def _settings(bounds: Mapping[str, int | bool] | None) -> Iterator[str]:
    for name, value in (bounds or {}).items():
        yield f"--set={name}={json.dumps(value)}"


def _options_of(**options: str) -> Iterator[str]:
    for name, value in options.items():
        if value:
            yield f"--{name}={value}"
