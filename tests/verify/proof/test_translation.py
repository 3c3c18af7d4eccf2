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

z3 = pytest.importorskip("z3")

from waterline.checker.kafka.theorems import theorem_of  # noqa: E402
from waterline.checker.proof import execution, obligations  # noqa: E402
from waterline.checker.proof.obligations import Induction  # noqa: E402
from waterline.checker.proof.terms import (  # noqa: E402
    as_expression,
    conjunction,
    disjunction,
    equal,
    negation,
)
from waterline.model.core.state import OutsideOfPlace, State  # noqa: E402

SIZES = {"replicas": 2, "log_size": 3, "records": 4, "epochs": 3}


def random_state(induction: Induction, rng: random.Random) -> State:
    layout = induction.model.layout
    draft = State(layout).draft()
    for declared in layout.fields:
        for index in layout.elements[declared.name]:
            if isinstance(index, tuple):
                value = rng.randint(declared.lo, declared.hi)
                if index:
                    getattr(draft, declared.name)[index] = value
                else:
                    setattr(draft, declared.name, value)
    return draft.freeze()


def is_state(induction: Induction, arrays: Any, state: State) -> Any:
    """That the terms have the elements of a state."""
    layout, found = induction.model.layout, []
    for declared in layout.fields:
        for index in layout.elements[declared.name]:
            if isinstance(index, tuple):
                value = getattr(state, declared.name)
                value = value[index] if index else value
                term = arrays[declared.name](*index)
                if induction.space.shapes[declared.name].of:
                    # Beyond the names as well: that a set has none of these is an assumption.
                    bits = range(-1, max(layout.sizes.values()) + 1)
                    found += [equal(term.has(i), i >= 0 and bool(value >> i & 1)) for i in bits]
                else:
                    found.append(equal(term, value))
    return conjunction(*found)


def is_error(induction: Induction, error: OutsideOfPlace) -> bool:
    """True for an error whatever the bounds: below the range, or a name that there is not."""
    shape = induction.space.shapes[error.place.name]
    if error.value is not None:
        return error.value < shape.lo or shape.hi is not None
    counted = zip(error.indices, shape.dimensions, strict=True)
    sizes = induction.model.layout.sizes
    return any(i < 0 or (induction.space.is_name(d) and i >= sizes[d]) for i, d in counted)


class Comparison:
    """An induction without bounds whose quantifiers range over the numbers of some sizes."""

    def __init__(self, version: str) -> None:
        theorem = theorem_of(version)
        model = theorem.model(SIZES)
        larger = theorem.model({name: size + 1 for name, size in SIZES.items()})
        space = obligations.Space(model, larger)
        sizes = model.layout.sizes
        space.rounds = range(-1, max(sizes.values()) + 1)
        self.given = [space.sizes[name] == size for name, size in sizes.items()]
        self.induction = Induction(model, space, theorem)
        self.seen: Counter[str] = Counter()

    def require(self, known: list[Any], expected: Any, what: str) -> None:
        solver = z3.Solver()
        solver.add(*map(as_expression, known))
        assert solver.check() == z3.sat, f"{what}: a definition has no solution"
        solver.add(as_expression(negation(expected)))
        assert solver.check() == z3.unsat, what

    def lemmas(self, rng: random.Random) -> None:
        """Every lemma and claim in a random state."""
        induction, state = self.induction, random_state(self.induction, rng)
        run = induction._begin()
        theorem, settings = induction.theorem, induction.model.settings
        rules = [lemma.holds for lemma in (*theorem.lemmas, *theorem.follows)]
        truths = []
        for rule in (*rules, *(claim.holds for claim, _ in theorem.claims)):
            try:
                expected = bool(rule(state, settings))
            except OutsideOfPlace:
                self.seen["lemma raises"] += 1
                continue
            truths.append(equal(run.holds(rule, induction._state, induction.settings), expected))
            self.seen[f"lemma {expected}"] += 1
        known = [*self.given, *run.definitions, is_state(induction, induction._before, state)]
        self.require(known, conjunction(*truths), f"a lemma in {state}")

    def step(self, action: Any, rng: random.Random) -> None:
        """One action with random arguments in a random state."""
        induction, state = self.induction, random_state(self.induction, rng)
        model = induction.model
        run, guard, after, variables = induction._step(action)
        numbers = tuple(rng.randrange(model.layout.sizes[p.over]) for p in action.parameters)
        faults = disjunction(*(when for when, _ in run.faults))
        known = [*self.given, *run.definitions, is_state(induction, induction._before, state)]
        known += [v == n for v, n in zip(variables, numbers, strict=True)]
        what = f"{action.name}{numbers} in {state}"
        try:
            enabled = model.is_enabled(state, action, numbers)
            expected = equal(guard, enabled)
            if enabled:
                expected = conjunction(
                    expected, is_state(induction, after, model.apply(state, action, numbers))
                )
        except OutsideOfPlace as error:
            self.seen["raises"] += 1
            if is_error(induction, error):
                self.require(known, faults, f"{what} raises {error}")
            return
        self.seen[f"enabled {enabled}"] += 1
        self.require(known, conjunction(expected, negation(faults)), what)


def compare(version: str, states: int, seed: int) -> Counter[str]:
    comparison, rng = Comparison(version), random.Random(seed)
    for _ in range(states):
        comparison.lemmas(rng)
        for action in comparison.induction.model.enabled_actions:
            comparison.step(action, rng)
    return comparison.seen


@pytest.mark.parametrize("version", ["hw", "epoch", "kip279", "kip320-first-try", "kip320"])
def test_terms_mean_what_python_computes(version: str) -> None:
    seen = compare(version, 6, seed=1)

    assert min(seen[f"lemma {True}"], seen[f"lemma {False}"], seen[f"enabled {True}"]) > 5


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
        compare("epoch", 20, seed=2)
