"""Lemmas that an obligation needs within small sizes, compared with the solver's answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

pytest.importorskip("z3")

from waterline.checker.kafka.theorems import theorem_of
from waterline.checker.proof.obligations import ALWAYS, Obligation
from waterline.checker.proof.solver import Outcome, answer, look

SIZES = {"replicas": 2, "log_size": 1, "records": 1, "epochs": 2}


def with_lemmas(obligation: Obligation, names: tuple[str, ...]) -> Obligation:
    """The same obligation with these lemmas alone."""
    some = {n: terms for n, terms in obligation.assumed.items() if n in (*ALWAYS, *names)}
    return replace(obligation, assumed=some)


@pytest.mark.parametrize("version", ["kip320", "epoch"])
def test_what_is_needed_proves_the_goal_and_what_is_refuted_has_a_state(version: str) -> None:
    small = theorem_of(version).within(SIZES)
    seen, given = Counter[str](), 0
    for name in ("BecomeFollower", "Produce"):
        for obligation in list(small.steps(small.model.action(name)))[::2]:
            found = look(obligation.look(), set())
            if found.outcome is Outcome.PROVED:
                alone = answer(with_lemmas(obligation, ()))[0]
                assert (alone is Outcome.PROVED) is (found.takes == ())
                assert answer(with_lemmas(obligation, found.takes))[0] is Outcome.PROVED
                seen["by lemmas" if found.takes else "by none"] += 1
                given = max(given, len(found.takes))
            else:
                assert found.outcome is answer(obligation)[0]
                seen[found.outcome.value] += 1

    assert (seen["refuted"] > 0) is (version == "epoch")
    assert min(seen["by lemmas"], seen["by none"]) > 3
    assert 1 < given < len(small.theorem.lemmas)


def test_each_lemma_that_is_found_is_needed() -> None:
    small = theorem_of("kip320").within(SIZES)
    most = 0
    for obligation in small.steps(small.model.action("BecomeFollower")):
        found = look(obligation.look(from_last=True), set())
        for name in found.takes:
            others = tuple(each for each in found.takes if each != name)
            assert answer(with_lemmas(obligation, others))[0] is Outcome.REFUTED
        most = max(most, len(found.takes))

    assert most > 3
