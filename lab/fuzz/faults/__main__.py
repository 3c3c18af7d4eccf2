"""Disturb runs, finish them, and compare them with runs that were not disturbed.

    python -m lab.fuzz.faults [--seed N] [--minutes M]

Every second round is a program of faults that is drawn, one in 25 of them with attempts on Spark;
the others end a small run at a change to the disk, each at the next.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from lab.fuzz.faults.attempts import orphans
from lab.fuzz.faults.exhaustive import EveryDeath
from lab.fuzz.faults.judging import Tally, carry_out, undisturbed
from lab.fuzz.faults.places import Place
from lab.fuzz.faults.programs import program_of
from lab.fuzz.faults.ready import make_ready
from lab.fuzz.rounds import Round, Wrong, attack

SPARK_EVERY = 50


@contextmanager
def rounds() -> Iterator[Round]:
    """A program, or a death, a round."""
    make_ready()
    expected = cache(undisturbed)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        run = Path(folder, "run")
        deaths = EveryDeath(Path(folder))

        def make_round(seed: int, seen: Counter[str]) -> None:
            tally = Tally()
            if seed % 2:
                deaths.carry_out(seed // 2, tally)
            else:
                places = [Place()] if seed % SPARK_EVERY == 0 else []
                program = program_of(seed, run, places=places)
                carry_out(program, run, expected(program.problem), tally)
            if left := orphans():
                raise Wrong(f"left running: {left}")
            seen.update(tally.counts())

        yield make_round


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.faults", rounds))
