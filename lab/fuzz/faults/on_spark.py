"""Programs of faults whose attempts are mostly on Spark: on sessions, and on Spark Connect.

    python -m lab.fuzz.faults.on_spark [--seed N] [--minutes M]

Each attempt on Spark draws its place, so one run is continued by both kinds of session. Its driver
is killed, its disk is full, executors and Python workers are killed, files of candidates are
damaged, tasks fail or are run twice at a time; workers may give up their tables at any level.
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
from lab.fuzz.faults.judging import Tally, carry_out, undisturbed
from lab.fuzz.faults.places import all_places
from lab.fuzz.faults.programs import PROBLEMS, SHORT, program_of
from lab.fuzz.faults.ready import load_spark, make_ready
from lab.fuzz.rounds import Round, Wrong, attack


@contextmanager
def rounds() -> Iterator[Round]:
    """A program a round."""
    make_ready([PROBLEMS[name] for name in SHORT])
    load_spark()
    expected = cache(undisturbed)
    temporary = tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True)
    with temporary as folder, all_places() as (places, kept):

        def make_round(seed: int, seen: Counter[str]) -> None:
            # A task whose driver was killed may write to the run of the program before.
            run = Path(folder, f"run-{seed}")
            program = program_of(seed, run, places=places, problems=SHORT)
            tally = Tally()
            try:
                carry_out(program, run, expected(program.problem), tally)
                # A worker of the cluster may end between the two lists.
                if left := [each for each in set(orphans()) - kept() if each.is_running()]:
                    raise Wrong(f"left running: {left}")
            finally:
                seen.update(tally.counts())

        yield make_round


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.faults.on_spark", rounds))
