"""The loop of every attack: round after round from `--seed N` on, for `--minutes M`.

A round draws all that it needs from a seed of its own: the first from the one that is given, each
other from the next number. One that goes wrong is printed with the command that repeats it.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager

Round = Callable[[int, Counter[str]], None]
"""One round of a seed, which counts what it has seen. Raises whatever is wrong."""
WRONG_MAX = 5
"""So many rounds may go wrong before an attack ends: one defect is in many."""


class Wrong(Exception):
    """What must not be; the message has all there is to know."""


def attack(
    name: str, prepared: Callable[[], AbstractContextManager[Round]], argv: list[str] | None = None
) -> int:
    """Make rounds until the time is up, one at least. Returns 1 if any goes wrong, else 0."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {name}",
        description=str(sys.modules[prepared.__module__].__doc__),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first round")
    parser.add_argument("--minutes", type=float, default=1, metavar="M", help="0: one round")
    asked = parser.parse_args(argv)
    began, seen, wrong = time.monotonic(), Counter[str](), 0
    with prepared() as make_round:
        for seed in itertools.count(asked.seed):
            try:
                make_round(seed, seen)
            except Exception as error:  # Whatever goes wrong is a finding.
                wrong += 1
                if not isinstance(error, Wrong):
                    traceback.print_exc(file=sys.stdout)
                print(f"WRONG: {error}")
                print(f"again: python -m {name} --seed {seed} --minutes 0", flush=True)
            if wrong == WRONG_MAX or time.monotonic() - began >= 60 * asked.minutes:
                break
    for what, count in sorted(seen.items()):
        print(f"{count:9,} {what}")
    rounds, seconds = seed - asked.seed + 1, time.monotonic() - began
    print(
        f"{name} --seed {asked.seed}: {rounds} rounds, {wrong} wrong, {seconds:.0f} s", flush=True
    )
    return 1 if wrong else 0
