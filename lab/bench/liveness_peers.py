"""Compare verdicts about whole behaviours with Spin's, on Promela models of the same examples.

    python -m lab.bench.liveness_peers [peterson | token_ring | philosophers | alternating_bit ...]

Spin looks for acceptance cycles of the negated claim under weak fairness (`pan -a -f`). Its weak
fairness is to processes, ours is to each action with its arguments: so each fair action with its
arguments is a process of the Promela model, and all that need not happen is done by one process
that may also do nothing. Then the two notions agree. Needs `spin` and a C compiler. Exits 1 if a
verdict differs, 2 if there is no peer.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from waterline.checker.checking.run import run
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Verdict
from waterline.checker.user_models.family import family_in
from waterline.model.core.claim import Temporal

ROOT = Path(__file__).parents[2]
Bounds = Mapping[str, int | bool]
SETTINGS: Mapping[str, tuple[Bounds, ...]] = {
    "peterson": ({}, {"gives_way": False}),
    "token_ring": ({}, {"greedy": True}),
    "philosophers": ({}, {"tie_break": False}),
    "alternating_bit": ({}, {"endless": True}, {"goes_on": False}, {"losses": 0}),
}
FAIR_PROCESSES = 6
"""Room in `pan` for what fairness notes of each process: more than these models have."""


class PeerError(Exception):
    """Spin or the compiler did not do what was asked of it."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A claim, and whether it is violated here and there."""

    claim: str
    ours: bool
    theirs: bool


def ours(name: str, bounds: Bounds) -> dict[str, bool]:
    """Which claims about whole behaviours are violated, by our search."""
    family = family_in(ROOT / "examples" / f"{name}.py")
    problem = family.problem(name, dict(bounds))
    found = {r.name: r for r in run(problem, EngineChoice(name="local")).result.invariants}
    claims = [claim.name for claim in problem.behaviours if isinstance(claim, Temporal)]
    verdicts = {claim: found[claim].verdict for claim in claims}
    if unclear := [c for c, v in verdicts.items() if v not in {Verdict.HOLDS, Verdict.VIOLATED}]:
        raise PeerError(f"{name}: nothing is said of {', '.join(unclear)}")
    return {claim: verdict is Verdict.VIOLATED for claim, verdict in verdicts.items()}


def theirs(name: str, bounds: Bounds, claims: list[str]) -> dict[str, bool]:
    """The same by Spin. Raises `PeerError`."""
    model = ROOT / "lab" / "bench" / "peers" / f"{name}.pml"
    given = [f"-D{bound.upper()}={int(value)}" for bound, value in bounds.items()]
    with tempfile.TemporaryDirectory() as folder:
        _output(["spin", *given, "-a", str(model)], folder)
        # Without partial-order reduction, which Spin does not do beside this fairness in all cases.
        options = ["-O1", "-DNOREDUCE", f"-DNFAIR={FAIR_PROCESSES}"]
        _output(["gcc", "-w", *options, "-o", "pan", "pan.c"], folder)
        return {claim: _is_violated(claim, folder) for claim in claims}


def _is_violated(claim: str, folder: str) -> bool:
    described = _output(["./pan", "-a", "-f", "-m1000000", "-N", claim.replace(".", "_")], folder)
    errors = re.search(r"errors: (\d+)", described)
    if errors is None or "max search depth too small" in described:
        raise PeerError(f"pan says nothing of {claim}: {described.strip()[-300:]}")
    if int(errors[1]) and "acceptance cycle" not in described:
        raise PeerError(f"pan finds no cycle but something else for {claim}: {described[:300]}")
    return int(errors[1]) > 0


def _output(command: list[str], folder: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def compare(name: str, bounds: Bounds) -> list[Compared]:
    """Every claim about whole behaviours of an example within these bounds."""
    mine = ours(name, bounds)
    peer = theirs(name, bounds, list(mine))
    return [Compared(claim, mine[claim], peer[claim]) for claim in mine]


def main(argv: list[str] | None = None) -> int:
    """Compare, a row for each claim and setting."""
    parser = argparse.ArgumentParser(description="Compare liveness verdicts with Spin's.")
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help=", ".join(SETTINGS))
    asked = parser.parse_args(argv)
    for name in asked.examples:
        if name not in SETTINGS:
            parser.error(f"{name} has no peer; {', '.join(SETTINGS)} have one")
    for tool in ("spin", "gcc"):
        if shutil.which(tool) is None:
            print(f"liveness_peers: {tool} is not installed", file=sys.stderr)
            return 2
    table = Table("Example", "Bounds", "Claim", "Waterline", "Spin", "")
    agreed = True
    try:
        for name in asked.examples or SETTINGS:
            for bounds in SETTINGS[name]:
                described = " ".join(f"{key}={str(given).lower()}" for key, given in bounds.items())
                for one in compare(name, bounds):
                    agreed &= one.ours == one.theirs
                    words = ["violated" if each else "holds" for each in (one.ours, one.theirs)]
                    same = "agree" if one.ours == one.theirs else "DIFFER"
                    table.add_row(name, described or "default", one.claim, *words, same)
    except PeerError as error:
        print(f"liveness_peers: {error}", file=sys.stderr)
        return 2
    Console(width=120).print(table)
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
