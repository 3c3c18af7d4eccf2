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
from waterline.checker.proof import execution, obligations
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


@pytest.mark.parametrize("version", ["kraft", "kraft-with-fresh-remote-leo", "kip320"])
def test_terms_of_the_message_grain_mean_what_python_computes(version: str) -> None:
    seen = compare(message_theorem_of(version), 8, seed=1, sizes={"records": 3, "epochs": 4})

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
        "cells = _merge_cells(test, one_cells, other_cells)",
        "cells = one_cells",
    ),
    "all elements are written": (
        "return merge(here, substitute(value, loop.variable, turn), old(*at))",
        "return substitute(value, loop.variable, turn)",
    ),
}


@pytest.fixture
def mutated(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def mutate(old: str, new: str) -> None:
        text = Path(execution.__file__).read_text()
        assert text.count(old) == 1, old
        module = types.ModuleType("mutated_execution")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(text.replace(old, new), "mutated", "exec"), module.__dict__)
        monkeypatch.setattr(obligations, "Execution", module.Execution)

    return mutate


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_translation_is_found_out(name: str, mutated: Any) -> None:
    mutated(*MUTANTS[name])

    with pytest.raises(AssertionError):
        compare(theorem_of("epoch"), 20, seed=2)
