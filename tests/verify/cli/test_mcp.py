"""`waterline mcp`: its tools, called by the library's own client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.live import lease_text

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")

PROGRAM = "from waterline.checker.cli.cli import main; main()"
Session = Callable[..., Awaitable[tuple[bool, str]]]


def talk(folder: Path, ask: Callable[[Session], Awaitable[None]], *options: str) -> None:
    """Start a server in a folder, and let `ask` call its tools; its processes have ended then."""
    command = ["-P", "-c", PROGRAM, "mcp", *options]
    parameters = mcp.StdioServerParameters(command=sys.executable, args=command, cwd=folder)

    async def session() -> None:
        async with mcp.Client(mcp.stdio_client(parameters)) as client:

            async def call(tool: str, **arguments: Any) -> tuple[bool, str]:
                answer = await client.call_tool(tool, arguments)
                [content] = answer.content
                # The library begins a tool's own words so.
                said = content.text.removeprefix(f"Error executing tool {tool}: ")
                return not answer.is_error, said

            await ask(call)

    before = children()
    asyncio.run(session())
    assert children() <= before


def children() -> set[psutil.Process]:
    """Processes below this one; other tests may have left a session of Spark there."""
    return set(psutil.Process().children(recursive=True))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lease.py").write_text(lease_text())
    # A module that a program finds which searches the working folder.
    (tmp_path / "numpy.py").write_text("raise SystemExit('the working folder was searched')")
    return tmp_path


def test_a_model_is_checked_explained_and_stepped_through(folder: Path) -> None:
    async def ask(call: Session) -> None:
        fine, text = await call("check", model="lease.py", bounds={"leases": 2})
        result = json.loads(text)
        [trace] = [each["trace"] for each in result["invariants"].values() if each["trace"]]
        assert (fine, result["format"]) == (True, "waterline-result/1")

        fine, text = await call("explain", trace=trace, model="lease.py")
        assert (fine, json.loads(text)["format"]) == (True, "waterline-explanation/1")

        fine, text = await call("step", model="lease.py", steps=["grant client=1"])
        assert fine
        assert "write(client=1) client1 writes with its token" in text

    talk(folder, ask, "--allow-models")


def test_mutants_are_judged(folder: Path) -> None:
    async def ask(call: Session) -> None:
        fine, text = await call("mutate", model="lease.py", bounds={"leases": 1}, only="guards")

        assert fine, text
        assert json.loads(text)["mutants"]

    talk(folder, ask, "--allow-models")


def test_a_mistake_is_one_line_and_no_model_is_run_unless_it_is_allowed(folder: Path) -> None:
    (folder / "wrong.py").write_text("raise SystemExit('it was run')\n")

    async def forbidden(call: Session) -> None:
        for tool, more in (("check", {}), ("step", {"steps": []}), ("mutate", {})):
            assert await call(tool, model="wrong.py", **more) == (
                False,
                "wrong.py is a program, which this server may not run; "
                "start it with --allow-models",
            )
        fine, text = await call("step", protocol="hw", steps=[])
        assert fine, text

    async def mistaken(call: Session) -> None:
        for arguments, said in (
            ({"model": "lease.py", "bounds": {"clint": 2}}, "lease has no bound .clint."),
            ({"model": "none.py"}, "none.py"),
            ({"protocol": "hv"}, "'hv'"),
            ({"model": "--help"}, "--help"),
        ):
            fine, text = await call("check", **arguments)
            assert not fine
            assert text.startswith("error: "), text
            assert re.search(said, text)
            assert "\n" not in text
        assert not (await call("explain", trace={}))[0]

    talk(folder, forbidden)
    talk(folder, mistaken, "--allow-models")


def test_a_call_that_takes_too_long_is_ended(folder: Path) -> None:
    (folder / "slow.py").write_text("while True:\n    pass\n")
    before = children()

    async def ask(call: Session) -> None:
        fine, text = await call("check", model="slow.py")

        assert not fine
        assert text.startswith("check took more than 1 s; lower the bounds")
        assert len(children() - before) == 1  # the server

    talk(folder, ask, "--allow-models", "--max-time=1")
