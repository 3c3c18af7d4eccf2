"""Compare every example with what TLC says of the module that is exported of it.

    python -m bench.tla [EXAMPLE ...]
    make tla

Each is exported at its default bounds, and at others where that takes little time. TLC explores the
module. The number of distinct states, the depth of the search, the verdict of each claim, and the
least depth at which one breaks or what must happen does, must be equal. TLC stops at the first
claim that breaks: each of those has a run of its own, on one worker, which is breadth first. It
counts the states on the longest way, Waterline the steps: one less. Of a claim about what follows
it finds a cycle, and not a shortest one: of those the verdict is compared alone.

Needs Java and Maven, which fetches TLC the first time. Exits 1 if anything differs, 2 without TLC.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from bench.peers.tlc import Said, TlcFailed, TlcMissing, run_tlc, tlc_jar
from checker.checking.run import run
from checker.problem.problem import Problem
from checker.search.engines.choice import EngineChoice
from checker.search.result import Result, Verdict
from checker.tla.claims import Exported
from checker.tla.exported import exported
from checker.tla.module import Module
from checker.user_models.family import own_family
from checker.user_models.loading import read_own
from model.core.claim import Temporal

ROOT = Path(__file__).parents[1]
Bounds = Mapping[str, int | bool]
EXAMPLES: dict[str, tuple[Bounds, ...]] = {
    "abd_register": ({"readers": 1}, {"readers": 1, "write_back": False}),
    "alternating_bit": ({}, {"endless": True}, {"goes_on": False}),
    "chain_replication": ({}, {"resend": False}, {"writes": 1}),
    "die_hard": ({}, {"small": 4, "big": 9, "wanted": 6}, {"wanted": -1}),
    "kraft_log": ({}, {"voters": 2, "epochs": 3}, {"voters": 2, "waits_for_own_epoch": False}),
    "peterson": ({}, {"gives_way": False}),
    "philosophers": ({}, {"tie_break": False}, {"seats": 4}),
    "raft": ({}, {"servers": 2, "terms": 3}, {"terms": 1}),
    "token_ring": ({}, {"greedy": True}, {"nodes": 4}),
    "two_phase_commit": ({}, {"rms": 4}),
}
"""The bounds at which each example is compared; the first are the defaults."""


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


def theirs(jar: Path, module: Module, expected: Found, temporal: frozenset[str]) -> Found:
    """What TLC says: of all claims that are expected to hold at once, of the others one by one.

    Raises `TlcFailed`.
    """
    breaking = [each for each in module.claims if each.claim in expected.breaks]
    holding = [each for each in module.claims if each not in breaking]
    breaks: dict[str, int | None] = {}
    with tempfile.TemporaryDirectory(prefix="waterline-tla-") as folder:
        path = Path(folder, f"{module.name}.tla")
        path.write_text(module.text, encoding="utf-8")

        def said(claims: Sequence[Exported], *, types: bool) -> Said:
            return run_tlc(jar, path, module.configured(list(claims), types=types))

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


def compare(jar: Path, name: str, bounds: Bounds, table: Table) -> list[str]:
    """Compare an example at these bounds, in a row of the table; what is not equal."""
    family = own_family(*read_own(ROOT / "examples" / f"{name}.py"))
    problem = family.problem_of(next(iter(family.versions)), dict(bounds), symmetry="none")
    described = " ".join(f"{key}={str(value).lower()}" for key, value in bounds.items())
    module = exported(problem)
    mine = ours(problem, module)
    try:
        peer = theirs(jar, module, mine, temporal_of(problem))
    except TlcFailed as problem_of_tlc:
        table.add_row(name, described or "default", f"{mine.distinct:,}", str(mine.depth))
        return [f"{name} {described or 'default'}: {problem_of_tlc}"]
    found = differences(mine, peer)
    table.add_row(
        name,
        described or "default",
        *(f"{mine.distinct:,}", str(mine.depth), f"{peer.distinct:,}", str(peer.depth)),
        "DIFFER" if found else f"{len(module.claims)} equal",
        ", ".join(_short(claim, depth) for claim, depth in mine.breaks.items()),
        *(f"{mine.seconds:.1f}", f"{peer.seconds:.1f}"),
    )
    return [f"{name} {described or 'default'}: {difference}" for difference in found]


def _short(claim: str, depth: int | None) -> str:
    return claim if depth is None else f"{claim} {depth}"


def main(argv: list[str] | None = None) -> int:
    """Compare, with a row for each example and setting."""
    parser = argparse.ArgumentParser(description="Compare the examples with TLC.")
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="as raft; else all")
    asked = parser.parse_args(argv)
    for name in asked.examples:
        if name not in EXAMPLES:
            parser.error(f"{name} is no example; those are {', '.join(EXAMPLES)}")
    try:
        jar = tlc_jar()
    except TlcMissing as problem:
        print(f"tla: {problem}", file=sys.stderr)
        return 2
    table = Table()
    table.add_column("Model")
    table.add_column("Bounds")
    for title in ("States", "Depth", "TLC's", "Depth"):
        table.add_column(title, justify="right")
    table.add_column("Claims")
    table.add_column("Breaks, or happens, first in step")
    for title in ("Seconds", "TLC's"):
        table.add_column(title, justify="right")
    console = Console(width=150)
    wrong: list[str] = []
    with Live(table, console=console, auto_refresh=False) as shown:
        for name in asked.examples or EXAMPLES:
            for bounds in EXAMPLES[name]:
                wrong += compare(jar, name, bounds, table)
                shown.refresh()
    console.print()
    for difference in wrong:
        console.print(difference, soft_wrap=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
