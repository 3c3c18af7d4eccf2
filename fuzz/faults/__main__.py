"""`python -m fuzz.faults`: how many programs of faults, from which seed on, how many on Spark."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import click

from fuzz.faults import exhaustive
from fuzz.faults.attempts import orphans
from fuzz.faults.judging import Tally, Wrong, carry_out, undisturbed
from fuzz.faults.programs import PROBLEMS, program_of
from fuzz.faults.ready import make_ready


@click.command()
@click.option("--programs", default=1000, show_default=True, help="How many, Spark's included.")
@click.option("--spark", default=0, show_default=True, help="How many of them use Spark.")
@click.option("--seed", default=1, show_default=True, help="The first; each program has its own.")
@click.option("--exhaustive", "is_exhaustive", is_flag=True, help="A small run, at every change.")
@click.option("--keep-going", is_flag=True, help="Go on after a program that went wrong.")
def main(programs: int, spark: int, seed: int, is_exhaustive: bool, keep_going: bool) -> None:
    """Disturb runs, finish them, and compare them with runs that were not disturbed."""
    started = time.monotonic()
    tally = Tally()
    wrong = 0
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    run = folder / "run"
    try:
        make_ready()
        if is_exhaustive:
            exhaustive.carry_out(run, tally, watch=_watch)
        else:
            expected = {problem: undisturbed(problem) for problem in PROBLEMS}
            for number in range(programs):
                _watch(number, programs)
                program = program_of(seed + number, run, spark=number < spark)
                try:
                    carry_out(program, run, expected[program.problem], tally)
                except Wrong as found:
                    wrong += 1
                    print(f"\nWRONG {found}", flush=True)
                    if not keep_going:
                        sys.exit(1)
                if left := orphans():
                    print(f"\nWRONG {program}\nleft running: {left}")
                    sys.exit(1)
    except Wrong as found:
        print(f"\nWRONG {found}")
        sys.exit(1)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    refused = ", ".join(f"{why} {count}" for why, count in sorted(tally.refused.items()))
    print(f"\n{tally.programs} programs, {tally.attempts} attempts: {tally.died} died,")
    print(f"{tally.finished_early} finished in spite of it, refused by name: {refused or 'none'};")
    print(f"{wrong} wrong counts, tracebacks or processes left. {time.monotonic() - started:.0f} s")
    sys.exit(1 if wrong else 0)


def _watch(number: int, total: int) -> None:
    if number % 50 == 0:
        print(f"{number} of {total}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
