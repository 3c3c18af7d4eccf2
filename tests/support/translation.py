"""Rules as terms against rules as Python runs them, in random states, most of them unreachable."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from typing import Any

import z3

from waterline.checker.proof.obligations import Induction, Theorem
from waterline.checker.proof.terms import (
    Mask,
    as_expression,
    conjunction,
    disjunction,
    equal,
    negation,
)
from waterline.model.core.state import NotAlive, OutsideOfPlace, State

FORM = "is not what its closed form says"


def random_state(induction: Induction, rng: random.Random) -> State:
    layout, (first,) = induction.model.layout, induction.model.initial
    draft = State(layout).draft()
    # A row exists by the values of another field, and has the least value at first.
    for declared in sorted(layout.fields, key=lambda declared: declared.alive is not None):
        for index in layout.elements[declared.name]:
            if not isinstance(index, tuple):
                continue
            with suppress(NotAlive):
                value = rng.randint(declared.lo, declared.hi)
                if declared.name in induction.space.constant:
                    rows = getattr(first, declared.name)
                    value = rows[index] if index else rows
                if index:
                    getattr(draft, declared.name)[index] = value
                else:
                    setattr(draft, declared.name, value)
    return draft.freeze()


def is_state(induction: Induction, arrays: Any, state: State, but: Collection[str] = ()) -> Any:
    """That the terms have the elements of a state, or the least in a row that is not alive."""
    layout, found = induction.model.layout, []
    for declared in layout.fields:
        for index in layout.elements[declared.name]:
            if isinstance(index, tuple) and declared.name not in but:
                value = getattr(state, declared.name)
                try:
                    value = value[index] if index else value
                except NotAlive:
                    value = declared.lo
                term = arrays[declared.name](*index)
                if induction.space.shapes[declared.name].of:
                    # Beyond the names as well: that a set has none of these is an assumption.
                    bits = range(-1, max(layout.sizes.values()) + 1)
                    found += [equal(term.has(i), i >= 0 and bool(value >> i & 1)) for i in bits]
                else:
                    found.append(equal(term, value))
    return conjunction(*found)


def is_error(induction: Induction, error: ValueError) -> bool:
    """True for an error whatever the bounds: below the range, or a name that there is not."""
    if not isinstance(error, OutsideOfPlace):
        return True
    shape = induction.space.shapes[error.place.name]
    if error.value is not None:
        return error.value < shape.lo or shape.hi is not None
    counted = zip(error.indices, shape.dimensions, strict=True)
    sizes = induction.model.layout.sizes
    extents = ((i, d, int(d) if d.isdecimal() else sizes[d]) for i, d in counted)
    return any(i < 0 or (induction.space.is_name(d) and i >= extent) for i, d, extent in extents)


class Comparison:
    """An induction without bounds whose quantifiers range over the numbers of some sizes."""

    def __init__(self, theorem: Theorem, of: dict[str, int]) -> None:
        model = theorem.model(of)
        larger = [theorem.model({**of, name: size + 1}) for name, size in of.items()]
        space = theorem._space_of(model, larger)
        sizes = model.layout.sizes
        of_sets = {p.over for action in model.actions for p in action.parameters if p.of}
        self.most = max(size for name, size in sizes.items() if name not in of_sets)
        space.rounds = range(-1, self.most + 1)
        self.given = [space.sizes[name] == size for name, size in sizes.items()]
        self.induction = Induction(model, space, theorem)
        self.seen: Counter[str] = Counter()

    def _is(self, variable: Any, number: int) -> Any:
        """That an argument is this number, or the set that it is."""
        if not isinstance(variable, Mask):
            return variable == number
        bits = range(self.most)
        return conjunction(*(equal(variable.has(i), bool(number >> i & 1)) for i in bits))

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
        for rule in (*rules, *(claim.holds for claim in theorem.claims)):
            try:
                expected = bool(rule(state, settings))
            except ValueError:
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
        first, *others = induction._instances(action)
        variables = rng.choice([first, *others]) if others else first
        run, guard, after = induction._step(action, variables)
        over = [model.layout.sizes[p.over] for p in action.parameters]
        pairs = zip(variables, over, strict=True)
        numbers = tuple(v if isinstance(v, int) else rng.randrange(size) for v, size in pairs)
        of_forms = disjunction(*(when for when, what in run.faults if what.endswith(FORM)))
        faults = disjunction(*(when for when, what in run.faults if not what.endswith(FORM)))
        known = [*self.given, *run.definitions, is_state(induction, induction._before, state)]
        known += [self._is(v, n) for v, n in zip(variables, numbers, strict=True)]
        what = f"{action.name}{numbers} in {state}"
        try:
            enabled = model.is_enabled(state, action, numbers)
            expected = equal(guard, enabled)
            if enabled:
                then = model.apply(state, action, numbers)
                alike = is_state(induction, after, then, induction.theorem.havoc)
                expected = conjunction(expected, alike)
        except ValueError as error:
            self.seen["raises"] += 1
            if is_error(induction, error):
                self.require(known, disjunction(faults, of_forms), f"{what} raises {error}")
            return
        self.seen[f"enabled {enabled}"] += 1
        as_python = conjunction(expected, negation(faults))
        self.require(known, disjunction(as_python, of_forms), what)
        self.seen["closed form"] += bool(of_forms is not False)
        if not enabled:
            return
        draft = run.state(after)
        for claim in induction.theorem.steps:
            try:
                kept = bool(claim.keeps(state, then, model.settings))
            except ValueError:
                continue
            term = run.holds(claim.keeps, induction._state, draft, induction.settings)
            known = [*known, *run.definitions]
            self.require(known, equal(term, kept), f"{claim.name} of {what}")
            self.seen[f"step kept {kept}"] += 1
