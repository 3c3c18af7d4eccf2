"""Each mutant of more random small models is judged as plain Python judges it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.mutants.test_plain_python import compared
from waterline.checker.mutants.judging import Fate

MODELS, MUTANTS = 10, 20


def test_mutants_are_judged_as_plain_python_judges_them(tmp_path: Path) -> None:
    fates = Counter(fate for seed in range(MODELS) for fate in compared(seed, tmp_path, MUTANTS))

    assert fates.total() > MODELS * MUTANTS / 2
    assert min(fates[fate] for fate in Fate if fate not in (Fate.GROWS, Fate.INVALID)) >= 2
