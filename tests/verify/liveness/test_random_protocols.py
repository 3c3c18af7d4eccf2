"""Random protocols of one's own: the checker says what running them as plain Python comes to."""

from __future__ import annotations

from collections import Counter

from lab.fuzz.oracle import compare

SEEDS = (30_007, 30_025, 30_041, 30_048, 30_062, 30_085, 30_119, 51_129, 51_262)
"""Among them: states left open with and without a violation, cycles that a cut makes unfair, one in
which a behaviour may stay or go round, cut steps that need not be taken. Of the last two, verdicts
and depths are others without strong fairness."""


def test_verdicts_depths_states_left_open_and_traces_are_those_of_the_oracle() -> None:
    noted: Counter[str] = Counter()
    for seed in SEEDS:
        compare(seed, ("whole", "parts"), noted)

    assert noted["compared"] == len(SEEDS)
    for kind in ("recoverable", "leads_to"):
        assert noted[f"{kind} violated"], kind
        assert noted[f"{kind} holds"], kind
        assert noted[f"{kind} left open"], kind
    assert noted["cycles"]
    assert noted["staying"]
