"""Two small models in minicheck, musil and Stateright beside ours: lines, processor time, counts.

    python -m lab.bench.small_peers [--times 3] [--counterexamples] [--musil PYTHON]

minicheck: `pip install minicheck`, in this environment. musil needs Python 3.12: where this one is
older, name another that has it, as `--musil /path/to/venv/bin/python`. Stateright: needs `cargo`,
which fetches it. What is missing has a row that says so. Processor seconds are those of the whole
command, all its threads and processes included, the median of several; ours begins with its machine
code cached, Stateright's is built before. All have one thread. Lines of a model are those without
blank ones, comments and docstrings. Exits 1 if the distinct states differ.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "lab" / "bench" / "peers" / "small"
SETTINGS = (("two_phase_commit", 6), ("two_phase_commit", 7), ("peterson", 1))
"""Model, and how many resource managers there are, or whether a process gives way."""
_BOUND = {"two_phase_commit": "rms", "peterson": "gives_way"}


class PeerMissing(Exception):
    """What is needed for it is not there."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one of them did: `lines` of its model, processor `seconds`, `distinct` states."""

    lines: int
    seconds: float
    distinct: int
    text: str


def lines_of(path: Path) -> int:
    """Lines of a model without blank ones, comments and docstrings."""
    text = path.read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    if path.suffix == ".rs":
        return sum(bool(line) and not line.startswith("//") for line in lines)
    docstrings = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings |= {*range(node.lineno - 1, node.end_lineno or node.lineno)}
    shown = (line for number, line in enumerate(lines) if number not in docstrings)
    return sum(bool(line) and not line.startswith("#") for line in shown)


def timed(command: Sequence[str], times: int) -> tuple[float, str]:
    """The median of its processor seconds, and what it printed. Raises `PeerMissing`."""
    seconds, text = [], ""
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Ours ends with 12 for a violation, and 0 without.
        if done.returncode not in {0, 12}:
            raise PeerMissing((done.stderr or done.stdout).strip().splitlines()[-1])
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
        text = done.stdout
    return statistics.median(seconds), text


def waterline(name: str, size: int, times: int) -> Row:
    """Ours, the example."""
    path = ROOT / "examples" / f"{name}.py"
    bound = f"{_BOUND[name]}={size if name == 'two_phase_commit' else bool(size)}"
    command = [sys.executable, "-m", "waterline", "--model", str(path), "--set", bound.lower()]
    command += ["--engine", "local", "--threads", "1", "--format", "json"]
    seconds, text = timed(command, times)
    return Row(lines_of(path), seconds, json.loads(text)["distinct"], text)


def minicheck(name: str, size: int, times: int) -> Row:
    """The model for minicheck."""
    if find_spec("minicheck") is None:
        raise PeerMissing("minicheck is not installed: pip install minicheck")
    command = [sys.executable, "-m", "lab.bench.peers.small.run_minicheck", name, str(size)]
    seconds, text = timed(command, times)
    found = json.loads(text.splitlines()[-1])
    return Row(lines_of(SMALL / f"{name}_minicheck.py"), seconds, found["distinct"], text)


def musil(name: str, size: int, times: int, *, python: str) -> Row:
    """The model for musil, run by this Python."""
    command = [python, "-m", "lab.bench.peers.small.run_musil", name, str(size)]
    seconds, text = timed(command, times)
    found = json.loads(text.splitlines()[-1])
    return Row(lines_of(SMALL / f"{name}_musil.py"), seconds, found["distinct"], text)


def stateright(name: str, size: int, times: int, *, program: Path) -> Row:
    """The model for Stateright."""
    seconds, text = timed([str(program), name, str(size)], times)
    found = json.loads(text.splitlines()[-1])
    path = SMALL / "stateright" / "src" / f"{name}.rs"
    return Row(lines_of(path), seconds, found["distinct"], text)


def built(folder: Path) -> Path:
    """Stateright's program. Raises `PeerMissing`."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise PeerMissing("cargo is not installed")
    project = folder / "stateright"
    shutil.copytree(SMALL / "stateright", project)
    target = Path(os.environ.get("CARGO_TARGET_DIR", folder / "target"))
    done = subprocess.run(
        [cargo, "build", "--release", "--quiet"],
        cwd=project,
        env={**os.environ, "CARGO_TARGET_DIR": str(target)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PeerMissing(f"cargo failed: {done.stderr.strip().splitlines()[-1]}")
    return target / "release" / "small-stateright"


def main(argv: list[str] | None = None) -> int:
    """A row for each model and checker."""
    parser = argparse.ArgumentParser(description="Small models in other checkers.")
    parser.add_argument("--times", type=int, default=3, help="runs of each; the median is shown")
    parser.add_argument("--counterexamples", action="store_true", help="what the peers print")
    parser.add_argument("--musil", default=sys.executable, help="a Python that has musil")
    asked = parser.parse_args(argv)
    table = Table("Model", "Checker", "Lines", "Processor s", "Distinct states")
    agreed, shown = True, list[str]()
    with tempfile.TemporaryDirectory() as folder:
        program: Path | PeerMissing
        try:
            program = built(Path(folder))
        except PeerMissing as missing:
            program = missing
        for name, size in SETTINGS:
            counts = set[int]()
            for checker in ("waterline", "minicheck", "musil", "stateright"):
                what = f"{name} {_BOUND[name]}={size}"
                try:
                    if checker == "waterline":
                        row = waterline(name, size, asked.times)
                    elif checker == "minicheck":
                        row = minicheck(name, size, asked.times)
                    elif checker == "musil":
                        row = musil(name, size, asked.times, python=asked.musil)
                    elif isinstance(program, Path):
                        row = stateright(name, size, asked.times, program=program)
                    else:
                        raise program
                except PeerMissing as missing:
                    table.add_row(what, checker, "", "", str(missing))
                    continue
                counts.add(row.distinct)
                seconds = f"{row.seconds:.2f}"
                table.add_row(what, checker, str(row.lines), seconds, f"{row.distinct:,}")
                if checker != "waterline":
                    shown.append(f"{checker}, {what}\n{row.text}")
            agreed &= len(counts) == 1
    Console().print(table)
    if asked.counterexamples:
        print(*shown, sep="\n")
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
