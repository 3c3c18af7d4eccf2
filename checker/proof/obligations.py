"""Obligations of a proof by induction: what must follow from what, for each lemma and action."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import z3

from waterline.checker.proof.execution import Execution
from waterline.checker.proof.expressions import Settings
from waterline.checker.proof.space import Space
from waterline.checker.proof.terms import (
    Array,
    NotProvable,
    Term,
    conjunction,
    negation,
)
from waterline.model.core.claim import ActionProperty, Invariant, Lemma
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model

AT_FIRST, CLAIM, NO_ERROR, HAPPENS = "initially", "claim", "no rule in error", "happens"
_ALWAYS = ("ranges", "step", "defined")


@dataclass(frozen=True, slots=True)
class Theorem:
    """Claims to be proved of a model, and the lemmas that are an invariant together.

    `model(sizes)` makes the model within bounds, by name; `sizes` are small ones, of all bounds
    that fall away. `follows` are lemmas that need no induction of their own. Each claim comes with
    the lemmas that its proof takes, as a hint; one that is a lemma as well has its proof there.
    `steps` are claims about steps.
    """

    model: Callable[[dict[str, int]], Model]
    sizes: dict[str, int]
    lemmas: tuple[Lemma, ...]
    follows: tuple[Lemma, ...] = ()
    claims: tuple[tuple[Invariant, tuple[str, ...]], ...] = ()
    steps: tuple[ActionProperty, ...] = ()
    describe_history: Callable[[State], str] = lambda state: ""

    def induction(self) -> Induction:
        """The induction for sizes of any number."""
        space = self._space()
        return Induction(space.model, space, self)

    def _space(self) -> Space:
        larger = [self.model({**self.sizes, n: size + 1}) for n, size in self.sizes.items()]
        return Space(self.model(self.sizes), larger)

    def within(self, sizes: dict[str, int]) -> Induction:
        """The induction for these sizes alone, where an answer is a state."""
        model = self.model(sizes)
        return Induction(model, Space(model, (), like=self._space()), self)

    @property
    def invariants(self) -> tuple[Invariant, ...]:
        """Its claims about states and its lemmas, each once."""
        claims = {claim.name: claim for claim, _ in self.claims}
        lemmas = {lemma.name: lemma.claim for lemma in (*self.lemmas, *self.follows)}
        return tuple((claims | lemmas | claims).values())

    @property
    def own_lemmas(self) -> tuple[Lemma, ...]:
        """Its lemmas without its claims."""
        return tuple(e for e in (*self.lemmas, *self.follows) if e.name not in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its claims."""
        return tuple(c.name for c in (*(claim for claim, _ in self.claims), *self.steps))


@dataclass
class Obligation:
    """A goal, which is to follow from assumptions by name.

    `what` is an action with its arguments or another part of the proof, `lemma` the goal's name.
    `by` are the assumptions to try first.
    """

    what: str
    lemma: str
    run: Execution
    assumed: dict[str, list[Term]]
    goal: Term
    by: tuple[str, ...] = ()
    action: Action | None = None
    before: dict[str, Array] = field(default_factory=dict)
    arguments: tuple[Any, ...] = ()

    def names(self, *, hinted: bool) -> list[str]:
        """The names of all assumptions, or of those to try first."""
        first = {*self.by, *_ALWAYS} if hinted and self.by else self.assumed
        return [name for name in self.assumed if name in first]

    def assertions(self) -> list[Term]:
        """All assumptions, and the negated goal."""
        return [*(t for each in self.assumed.values() for t in each), negation(self.goal)]

    def text(
        self, names: Collection[str], generations: int, values: bool, *, switched: bool = False
    ) -> str:
        """The query in SMT-LIB: unsatisfiable if the goal follows from assumptions by name.

        Others are left out. If it is `switched`, an assumption counts only where the truth of the
        same name does (`switch`). See `Instantiation` for the rest.
        """
        space, made = self.run.space, self.run.instantiation(generations, values=values)
        solver = z3.Solver()
        solver.add(*space.assumed, made.assertion(negation(self.goal)), *made.axioms())
        for name in names:
            asserted = [made.assertion(each) for each in self.assumed[name]]
            if switched:
                asserted = [z3.Implies(switch(name), each) for each in asserted]
            solver.add(*asserted)
        return str(solver.to_smt2())


def switch(name: str, context: z3.Context | None = None) -> Any:
    """The truth that switches on the assumption of this name."""
    return z3.Bool(f"switch!{name}", context)


class Induction:
    """The obligations of a theorem in a space."""

    def __init__(self, model: Model, space: Space, theorem: Theorem) -> None:
        self.model = model
        self.space = space
        self.theorem = theorem
        self.settings = Settings(model.settings)
        self._run = run = Execution(space)
        self._before = space.any_state()
        self._state = run.state(self._before)
        self._assumed: dict[str, list[Term]] = {
            "ranges": space.ranges(self._before, run.quantifiers)
        }
        for lemma in theorem.lemmas:
            self._assumed[lemma.name] = [run.holds(lemma.holds, self._state, self.settings)]
        self._defined = len(run.definitions)

    def all(self) -> Iterator[Obligation]:
        """All that is to be proved."""
        yield from self.initially()
        yield from self.claims()
        for action in self.model.enabled_actions:
            yield from self.steps(action)

    def initially(self) -> Iterator[Obligation]:
        """Every lemma is true in the initial state."""
        for lemma in self.theorem.lemmas:
            run = Execution(self.space)
            truth = run.holds(lemma.holds, run.state(self.space.initial()), self.settings)
            yield Obligation(AT_FIRST, lemma.name, run, {"defined": run.definitions}, truth)

    def claims(self) -> Iterator[Obligation]:
        """Every claim follows from the lemmas, and no claim is in error."""
        run = self._begin()
        follows = [(lemma.name, lemma.holds, lemma.by) for lemma in self.theorem.follows]
        claims = [(claim.name, claim.holds, by) for claim, by in self.theorem.claims]
        proved: dict[str, list[Term]] = {}
        for name, holds, by in (*follows, *claims):
            truth = run.holds(holds, self._state, self.settings)
            no_error = run.no_error()
            run.faults.clear()
            given = self._assumed | proved | {"defined": list(run.definitions)}
            yield Obligation(CLAIM, name, run, given, truth, by, before=self._before)
            what = f"{name}: {NO_ERROR}"
            yield Obligation(CLAIM, what, run, given, no_error, by, before=self._before)
            proved[name] = [truth]

    def steps(self, action: Action) -> Iterator[Obligation]:
        """No rule of an action is in error, and every lemma is true after it."""
        run, guard, after, arguments = self._step(action)
        name = f"{action.name}({', '.join(p.name for p in action.parameters)})"
        no_error = run.no_error()
        ranges = self._ranges(action)
        given = self._assumed | {"step": ranges, "defined": list(run.definitions)}
        made = partial(Obligation, name, action=action, before=self._before, arguments=arguments)
        yield made(NO_ERROR, run, given, no_error)
        draft = run.state(after)
        for lemma in self.theorem.lemmas:
            truth = run.holds(lemma.holds, draft, self.settings)
            given = self._assumptions(run, [*ranges, guard], after)
            yield made(lemma.name, run, given, truth, (lemma.name, *lemma.by) if lemma.by else ())
        for claim in self.theorem.steps:
            run.faults.clear()
            truth = run.holds(claim.keeps, self._state, draft, self.settings)
            given = self._assumptions(run, [*ranges, guard], after)
            no_error = run.no_error()  # before anything else may be executed in this run
            yield made(claim.name, run, given, truth)
            yield made(f"{claim.name}: {NO_ERROR}", run, given, no_error)

    def happens(self, action: Action) -> Obligation:
        """The obligation that must fail: no state of the invariant enables an action."""
        run, guard, after, arguments = self._step(action)
        given = self._assumptions(run, [*self._ranges(action), guard], after)
        return Obligation(
            action.name, HAPPENS, run, given, False, (), action, self._before, arguments
        )

    def _begin(self) -> Execution:
        """The execution as it was when the lemmas were assumed. A lemma's faults are none."""
        self._run.forget(self._defined)
        return self._run

    def _step(self, action: Action) -> tuple[Execution, Term, dict[str, Array], tuple[Any, ...]]:
        """A step from any state: its execution, guard, fields afterwards, and arguments."""
        if action.budget is not None:
            raise NotProvable(f"{action.name} has a budget, which has no proof yet")
        run = self._begin()
        arguments = tuple(z3.Int(f"arg_{p.name}") for p in action.parameters)
        guard = run.holds(action.guard, self._state, self.settings, *arguments)
        of_guard = list(run.faults)
        run.faults.clear()
        draft = run.state(self._before)
        run.run(action.effect, draft, self.settings, *arguments)
        if self.model.normalise is not None:
            run.run(self.model.normalise, draft, self.settings)
        of_effect = [(conjunction(guard, when), what) for when, what in run.faults]
        run.faults[:] = [*of_guard, *of_effect]
        return run, guard, run.cells[draft.cell], arguments

    def _assumptions(
        self, run: Execution, step: list[Term], after: dict[str, Array]
    ) -> dict[str, list[Term]]:
        """The assumptions after a step. It ends within the bounds: a step beyond is cut."""
        bounds = [] if self.space.rounds is None else self.space.ranges(after, run.quantifiers)
        return self._assumed | {"step": step, "defined": [*run.definitions, *bounds]}

    def _ranges(self, action: Action) -> list[Term]:
        """That arguments are within their ranges."""
        found = []
        for parameter in action.parameters:
            variable = z3.Int(f"arg_{parameter.name}")
            found.append(self.space.within(parameter.over, variable))
            found.append(variable < self.space.sizes[parameter.over])
        return found
