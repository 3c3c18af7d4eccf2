"""Compare every example and Kafka's versions with what TLC says of the modules exported of them.

    python -m lab.bench.tla [EXAMPLE ...] [kafka] [--write]
    make tla

`lab.bench.tla_settings` has the bounds of each. TLC explores the module. The number of distinct
states, the depth of the search, the verdict of each claim, and the least depth at which one breaks
or what must happen does, must be equal. TLC stops at the first claim that breaks: each of those has
a run of its own, on one worker, which is breadth first. It counts the states on the longest way,
Waterline the steps: one less. Of a claim about what follows it finds a cycle, and not a shortest
one: of those the verdict is compared alone.

Needs Java and Maven, which fetches TLC the first time. Exits 1 if anything differs, 2 without TLC.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from lab.bench.peers.tlc import Said, TlcFailed, TlcMissing, run_tlc, tlc_jar
from lab.bench.tla_settings import EXAMPLES, KAFKA, ROOT, example_problem, kafka_problem, spelled
from waterline.checker.checking.run import run
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Result, Verdict
from waterline.checker.tla.claims import Exported
from waterline.checker.tla.kafka.module import export
from waterline.checker.tla.module import Module
from waterline.model.core.claim import Temporal

DOCUMENT = ROOT / "docs" / "tla.md"
BEGIN, END = "<!-- made by python -m lab.bench.tla kafka --write -->", "<!-- until here -->"


@dataclass(frozen=True, slots=True)
class Found:
    """What one of the two says. `breaks` has the least depth of each claim that breaks, or of what
    happens; None for a claim about what follows.
    """

    distinct: int
    depth: int
    breaks: Mapping[str, int | None]
    seconds: float


def ours(problem: Problem, module: Module) -> Found:
    """What Waterline says, of claims that the module has a formula for."""
    began = time.monotonic()
    result = run(problem, EngineChoice(name="local", threads=1)).result
    exported_too = {each.claim for each in module.claims}
    breaks = {n: d for n, d in _breaks(problem, result).items() if n in exported_too}
    return Found(result.distinct, result.depth, breaks, time.monotonic() - began)


def _breaks(problem: Problem, result: Result) -> dict[str, int | None]:
    about_behaviours = {each.name for each in problem.behaviours}
    found: dict[str, int | None] = {
        each.name: None if each.name in about_behaviours else each.depth
        for each in result.invariants
        if each.verdict is Verdict.VIOLATED
    }
    return found | {each.name: each.depth for each in result.reachable if each.depth is not None}


def theirs(
    jar: Path,
    module: Module,
    expected: Found,
    temporal: frozenset[str],
    *,
    jvm: Sequence[str] = (),
) -> Found:
    """What TLC says: of all claims that are expected to hold at once, of the others one by one.

    `jvm` is more options of the JVM. Raises `TlcFailed`.
    """
    breaking = [each for each in module.claims if each.claim in expected.breaks]
    holding = [each for each in module.claims if each not in breaking]
    breaks: dict[str, int | None] = {}
    with tempfile.TemporaryDirectory(prefix="waterline-tla-") as folder:
        path = Path(folder, f"{module.name}.tla")
        path.write_text(module.text, encoding="utf-8")

        def said(claims: Sequence[Exported], *, types: bool) -> Said:
            return run_tlc(jar, path, module.config_text(list(claims), types=types), jvm=jvm)

        whole = said(holding, types=True)
        seconds = whole.seconds
        if whole.violated is not None:
            breaks[_claim(module, whole.violated)] = whole.steps
            whole = said([], types=False)
        for each in breaking:
            one = said([each], types=False)
            seconds += one.seconds
            if one.violated is not None:
                breaks[each.claim] = None if each.claim in temporal else one.steps
    return Found(whole.distinct, whole.depth, breaks, seconds)


def _claim(module: Module, name: str) -> str:
    return next((each.claim for each in module.claims if each.name == name), name or "temporal")


def differences(mine: Found, peer: Found) -> list[str]:
    """Say what is not equal."""
    found = []
    if mine.distinct != peer.distinct:
        found.append(f"{mine.distinct:,} distinct states, TLC {peer.distinct:,}")
    if mine.depth != peer.depth:
        found.append(f"depth {mine.depth}, TLC {peer.depth}")
    for claim in sorted(mine.breaks.keys() | peer.breaks.keys()):
        ways = [_described(claim, each) for each in (mine, peer)]
        if ways[0] != ways[1]:
            found.append(f"{claim} {ways[0]}, TLC {ways[1]}")
    return found


def _described(claim: str, found: Found) -> str:
    if claim not in found.breaks:
        return "never"
    depth = found.breaks[claim]
    return "at some time" if depth is None else f"in step {depth}"


def temporal_of(problem: Problem) -> frozenset[str]:
    """The claims about what follows that have a formula."""
    return frozenset(each.name for each in problem.behaviours if isinstance(each, Temporal))


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison. `peer` is None where TLC failed; `wrong` says what is not equal."""

    name: str
    bounds: str
    claims: int
    mine: Found
    peer: Found | None
    wrong: tuple[str, ...]

    def breaks(self) -> str:
        """What breaks, or happens, with its step."""
        return ", ".join(
            claim if depth is None else f"{claim} {depth}"
            for claim, depth in self.mine.breaks.items()
        )


def compare(jar: Path, name: str, bounds: str, problem: Problem) -> Row:
    """Compare one model at its bounds."""
    module = export(problem)
    mine = ours(problem, module)
    peer: Found | None = None
    try:
        peer = theirs(jar, module, mine, temporal_of(problem))
        wrong = differences(mine, peer)
    except TlcFailed as problem_of_tlc:
        wrong = [str(problem_of_tlc)]
    described = tuple(f"{name} {bounds}: {each}" for each in wrong)
    return Row(name, bounds, len(module.claims), mine, peer, described)


def rows_of(jar: Path, names: Sequence[str]) -> Iterator[Row]:
    """All comparisons of these, one by one."""
    for name in names:
        if name == "kafka":
            for options in KAFKA:
                yield compare(jar, name, options, kafka_problem(options))
            continue
        for bounds in EXAMPLES[name]:
            yield compare(jar, name, spelled(bounds), example_problem(name, bounds))


def empty_table() -> Table:
    """The table on the screen, without rows."""
    table = Table()
    table.add_column("Model")
    table.add_column("Bounds")
    for title in ("States", "Depth", "TLC's", "Depth"):
        table.add_column(title, justify="right")
    table.add_column("Claims")
    table.add_column("Breaks, or happens, first in step")
    for title in ("Seconds", "TLC's"):
        table.add_column(title, justify="right")
    return table


def add(table: Table, row: Row) -> None:
    """A row of it."""
    mine, peer = row.mine, row.peer
    counts = [f"{mine.distinct:,}", str(mine.depth)]
    if peer is None:
        table.add_row(row.name, row.bounds, *counts, "", "", "FAILED")
        return
    table.add_row(
        row.name,
        row.bounds,
        *(*counts, f"{peer.distinct:,}", str(peer.depth)),
        "DIFFER" if row.wrong else f"{row.claims} equal",
        row.breaks(),
        *(f"{mine.seconds:.1f}", f"{peer.seconds:.1f}"),
    )


def in_markdown(rows: Sequence[Row]) -> str:
    """The rows of Kafka's versions as a table for the documentation, between its marks."""
    lines = [
        BEGIN,
        "| Options of `check` and `export` | States | Depth | Claims | Breaks, in step | Seconds "
        "| TLC's |",
        "|---|--:|--:|--:|---|--:|--:|",
    ]
    for row in rows:
        assert row.peer is not None
        breaks = row.breaks().replace("_", "\\_") or "none"
        lines.append(
            f"| `{row.bounds}` | {row.mine.distinct:,} | {row.mine.depth} | {row.claims} "
            f"| {breaks} | {row.mine.seconds:.1f} | {row.peer.seconds:.0f} |"
        )
    return "\n".join([*lines, END])


def main(argv: list[str] | None = None) -> int:
    """Compare, with a row for each example and setting."""
    parser = argparse.ArgumentParser(description="Compare exported modules with TLC.")
    known = (*EXAMPLES, "kafka")
    what = f"one of {', '.join(known)}; else all"
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help=what)
    parser.add_argument(
        "--write", action="store_true", help="put the table of Kafka's versions into docs/tla.md"
    )
    asked = parser.parse_args(argv)
    for name in asked.examples:
        if name not in known:
            parser.error(f"{name} is no example; those are {', '.join(known)}")
    try:
        jar = tlc_jar()
    except TlcMissing as problem:
        print(f"tla: {problem}", file=sys.stderr)
        return 2
    table = empty_table()
    console = Console(width=150)
    rows: list[Row] = []
    with Live(table, console=console, auto_refresh=False) as shown:
        for row in rows_of(jar, asked.examples or known):
            rows.append(row)
            add(table, row)
            shown.refresh()
    console.print()
    wrong = [each for row in rows for each in row.wrong]
    for difference in wrong:
        console.print(difference, soft_wrap=True)
    of_kafka = [row for row in rows if row.name == "kafka"]
    if asked.write and of_kafka and not wrong:
        before, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
        after = rest.split(END)[1]
        DOCUMENT.write_text(before + in_markdown(of_kafka) + after, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
