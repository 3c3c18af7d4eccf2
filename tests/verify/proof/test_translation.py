"""Rules as terms against rules as Python runs them, in random states, most of them unreachable."""

from __future__ import annotations

import random
import sys
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3")

from tests.support.translation import Comparison
from waterline.checker.kafka.theorems import message_theorem_of, theorem_of
from waterline.checker.proof import execution, loops, obligations
from waterline.checker.proof.obligations import Theorem

SIZES = {"replicas": 2, "log_size": 3, "records": 4, "epochs": 3}


def compare(
    theorem: Theorem, states: int, seed: int, sizes: dict[str, int] = SIZES
) -> Counter[str]:
    comparison, rng = Comparison(theorem, sizes), random.Random(seed)
    for _ in range(states):
        comparison.lemmas(rng)
        for action in comparison.induction.model.enabled_actions:
            comparison.step(action, rng)
    return comparison.seen


@pytest.mark.parametrize("version", ["hw", "epoch", "kip279", "kip320-first-try", "kip320"])
def test_terms_mean_what_python_computes(version: str) -> None:
    seen = compare(theorem_of(version), 6, seed=1)

    assert min(seen[f"lemma {True}"], seen[f"lemma {False}"], seen[f"enabled {True}"]) > 5


OF_ANY = {"replicas": 3, "records": 2, "epochs": 2}
OF_TWO = {"records": 3, "epochs": 4}


@pytest.mark.parametrize(
    ("version", "sizes"),
    [("kraft", OF_ANY), ("kraft-with-fresh-remote-leo", OF_ANY), ("kip320", OF_TWO)],
)
def test_terms_of_the_message_grain_mean_what_python_computes(
    version: str, sizes: dict[str, int]
) -> None:
    seen = compare(message_theorem_of(version), 8, seed=1, sizes=sizes)

    assert min(seen[f"lemma {True}"], seen[f"lemma {False}"], seen[f"enabled {True}"]) > 5
    assert seen["closed form"] > 0


MUTANTS = {
    "the first round need not be the first": (
        "negation(self.some(variable, conjunction(before, there))),",
        "True,",
    ),
    "a search does not end": (
        'conjunction(compare("<=", first, variable), compare("<", variable, end))',
        'compare("<=", first, variable)',
    ),
    "what one branch wrote stays after the other": (
        "cells = merge_cells(test, one_cells, other_cells)",
        "cells = one_cells",
    ),
    "all elements are written": (
        "return merge(here, substitute(value, variable, turn), old(*at))",
        "return substitute(value, variable, turn)",
    ),
}
MUTANTS_OF_ANY = {
    "an extreme is none of the values that are reached": (
        "conjunction(*rule, disjunction(*equals)), inner)",
        "conjunction(*rule), inner)",
    ),
    "a value counts though no round reaches it": (
        "within = disjunction(negation(when), compare(operator, found, value))",
        "within = compare(operator, found, value)",
    ),
}


@pytest.fixture
def mutated(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def mutate(old: str, new: str) -> None:
        texts = {each: Path(each.__file__).read_text() for each in (loops, execution)}
        assert sum(text.count(old) for text in texts.values()) == 1, old
        for original, text in texts.items():
            module = types.ModuleType(f"mutated_{original.__name__.rpartition('.')[2]}")
            monkeypatch.setitem(sys.modules, module.__name__, module)
            changed = text.replace(old, new).replace(f"from {loops.__name__}", "from mutated_loops")
            exec(compile(changed, "mutated", "exec"), module.__dict__)
        monkeypatch.setattr(obligations, "Execution", module.__dict__["Execution"])

    return mutate


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_translation_is_found_out(name: str, mutated: Any) -> None:
    mutated(*MUTANTS[name])

    with pytest.raises(AssertionError):
        compare(theorem_of("epoch"), 20, seed=2)


@pytest.mark.parametrize("name", MUTANTS_OF_ANY)
def test_a_wrong_extreme_is_found_out(name: str, mutated: Any) -> None:
    mutated(*MUTANTS_OF_ANY[name])

    comparison, rng = Comparison(message_theorem_of("kraft"), OF_ANY), random.Random(2)
    produce = comparison.induction.model.action("Produce")

    def compare_steps() -> None:
        for _ in range(400):
            comparison.step(produce, rng)

    with pytest.raises(AssertionError):
        compare_steps()
