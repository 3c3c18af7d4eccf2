"""A random protocol of one's own: the checker says what running it as plain Python comes to."""

from __future__ import annotations

from collections import Counter

from lab.fuzz.oracle import compare


def test_verdicts_depths_states_left_open_and_traces_are_those_of_the_oracle() -> None:
    noted: Counter[str] = Counter()
    compare(30_007, ("whole", "parts"), noted)

    assert noted["compared"] == 1
