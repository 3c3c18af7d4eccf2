"""Certificates forged by chance: of each kind some, which are found out or are so."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from lab.fuzz.forgeries import NOTICED, RIGHT, forge, outcome_of, written


def test_what_is_forged_is_found_out_unless_it_is_so(tmp_path: Path) -> None:
    originals = written(tmp_path, ["own", "own, unbounded"])
    outcomes: Counter[str] = Counter()
    alterations: set[str] = set()
    for seed in range(50):
        draw = random.Random(seed)
        forged = forge(draw.choice([*originals]), originals, tmp_path / str(seed), draw)
        outcome, _ = outcome_of(forged)
        outcomes[outcome] += 1
        alterations |= {*forged.done}

    assert outcomes.keys() == {NOTICED, RIGHT}
    assert outcomes[NOTICED] > 35
    assert len(alterations) > 10
