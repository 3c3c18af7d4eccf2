"""Change what models look up, and see whether an answer of before comes back.

    python -m lab.fuzz.stale_disk [--seed N] [--minutes M]

Every second round is a shape that was made by hand, one after the other; the others are drawn.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.fuzz.rounds import Round, Wrong, attack
from lab.fuzz.stale_disk.attempt import outcomes
from lab.fuzz.stale_disk.drawn import drawn
from lab.fuzz.stale_disk.judging import MISTAKES, judge
from lab.fuzz.stale_disk.processes import Commands
from lab.fuzz.stale_disk.shapes import SHAPES


@contextmanager
def rounds() -> Iterator[Round]:
    """A case a round."""
    with tempfile.TemporaryDirectory(prefix="stale-") as made, Commands() as commands:

        def make_round(seed: int, seen: Counter[str]) -> None:
            folder = Path(made, str(seed))
            if seed % 2:
                shape = SHAPES[seed // 2 % len(SHAPES)]
                kind = f"{shape.group} {shape.name}"
                found = outcomes(shape.case(), commands, folder, shape.doors)
                is_wrong = any(each.what in {*MISTAKES, "kept"} for each in found.values())
                seen["shapes by hand"] += 1
            else:
                case = drawn(seed)
                kind = f"{case.change} in {' in '.join(case.lookup)}"
                word, found = judge(case, commands, folder)
                is_wrong = word in MISTAKES
                seen[f"{case.change}: {word}"] += 1
            shutil.rmtree(folder)
            if is_wrong:
                doors = (f"{door}: {each.what}, {each.seen}" for door, each in found.items())
                raise Wrong(f"{kind}: {'; '.join(doors)}")

        yield make_round


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.stale_disk", rounds))
