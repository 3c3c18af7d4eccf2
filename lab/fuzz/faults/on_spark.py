"""Programs of faults whose attempts are mostly on Spark: on a session, and on Spark Connect.

    python -m lab.fuzz.faults.on_spark [--seed N] [--minutes M]

Each attempt on Spark draws its form, so one run is continued by both. The server of Spark Connect
outlives the attempts that are killed, as a cluster does; there is a new one now and then.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

import psutil

from lab.fuzz.faults.attempts import orphans
from lab.fuzz.faults.judging import Tally, carry_out, undisturbed
from lab.fuzz.faults.programs import PROBLEMS, program_of
from lab.fuzz.faults.ready import make_ready
from lab.fuzz.rounds import Round, Wrong, attack
from tests.support.standalone import connect_server

SERVER_ROUNDS = 100


@contextmanager
def rounds() -> Iterator[Round]:
    """A program a round."""
    make_ready(PROBLEMS.values())
    expected = cache(undisturbed)
    with tempfile.TemporaryDirectory(prefix="faults-") as folder, ExitStack() as stack:
        run = Path(folder, "run")
        tally, servers = Tally(), []

        def make_round(seed: int, seen: Counter[str]) -> None:
            if tally.programs % SERVER_ROUNDS == 0:
                stack.close()
                servers[:] = [stack.enter_context(connect_server(Path(folder), "local[2]"))]
            url, process = servers[0]
            program = program_of(seed, run, masters=("local[2]", url))
            one = Tally()
            tally.programs += 1
            carry_out(program, run, expected(program.problem), one)
            server = psutil.Process(process.pid)
            if left := set(orphans()) - {server, *server.children(recursive=True)}:
                raise Wrong(f"left running: {left}")
            on = Counter(word for step in program.steps for word in str(step).split())
            seen.update(one.counts())
            seen.update({"attempts on a session": on["local[2]"], "on Spark Connect": on[url]})

        yield make_round


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.faults.on_spark", rounds))
