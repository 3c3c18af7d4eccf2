"""Random models whose claims raise: their error is the same on every engine."""

from __future__ import annotations

from collections import Counter

import pytest

from lab.fuzz.raising import LOCAL, compare, drawn


@pytest.mark.parametrize("seed", [126, 16, 122])
def test_random_models_whose_claims_raise_are_the_same_on_every_engine_and_in_python(
    seed: int,
) -> None:
    noted: Counter[str] = Counter()
    for each in drawn(seed, 8):
        compare(each, LOCAL, noted)

    assert noted["compared"] == 8
    assert noted["raise an error"] >= 3
