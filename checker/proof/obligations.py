"""Obligations of a proof by induction: what must follow from what, for each lemma and action."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import z3

from waterline.checker.proof.execution import Execution
from waterline.checker.proof.expressions import Settings, StateRef
from waterline.checker.proof.loops import Form
from waterline.checker.proof.space import Space
from waterline.checker.proof.terms import (
    Array,
    Mask,
    NotProvable,
    Term,
    as_expression,
    conjunction,
    disjunction,
    is_known,
    negation,
)
from waterline.model.core.claim import ActionProperty, Invariant
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model

AT_FIRST, CLAIM, NO_ERROR, HAPPENS = "initially", "claim", "no rule in error", "happens"
CASE, OTHERS, FACTS = "case", "other decisions", "facts"
ALWAYS = ("ranges", "step", CASE, OTHERS, FACTS, "defined")


@dataclass(frozen=True, slots=True)
class Theorem:
    """Claims to be proved of a model, and the lemmas that are an invariant together.

    `model(sizes)` makes the model within bounds, by name; `sizes` are small ones, of all bounds
    that fall away; values lie within those in `limits`. `follows` are lemmas that need no induction
    of their own. A claim that is a lemma as well has its proof there. `steps` are claims about
    steps. `facts` follow, by action, from the decisions of a case, and are proved first.
    `forms` are closed forms by the function that has the loop; the fields in `havoc` have any value
    after a loop without one.
    Each branch of a function in `split` is a case of its own. `never` are actions that no state
    enables within the other sizes. The indices of fields in `apart` are apart from places of other
    fields, as a hint.
    """

    model: Callable[[dict[str, int]], Model]
    sizes: dict[str, int]
    lemmas: tuple[Invariant, ...]
    follows: tuple[Invariant, ...] = ()
    claims: tuple[Invariant, ...] = ()
    steps: tuple[ActionProperty, ...] = ()
    facts: Mapping[str, tuple[Callable[..., bool], ...]] = field(default_factory=dict)
    limits: tuple[str, ...] = ()
    forms: Mapping[Any, Form] = field(default_factory=dict)
    havoc: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    split: tuple[Any, ...] = ()
    never: tuple[str, ...] = ()
    describe_history: Callable[[State], str] = lambda state: ""

    def induction(self) -> Induction:
        """The induction for sizes of any number."""
        space = self._space()
        return Induction(space.model, space, self)

    def _space(self) -> Space:
        larger = [self.model({**self.sizes, n: size + 1}) for n, size in self.sizes.items()]
        return self._space_of(self.model(self.sizes), larger)

    def _space_of(self, model: Model, larger: Sequence[Model], like: Space | None = None) -> Space:
        return Space(model, larger, like, limits=self.limits, havoc=self.havoc, apart=self.apart)

    def within(self, sizes: dict[str, int]) -> Induction:
        """The induction for these sizes alone, where an answer is a state."""
        model = self.model(sizes)
        return Induction(model, self._space_of(model, (), self._space()), self)

    @property
    def invariants(self) -> tuple[Invariant, ...]:
        """Its claims about states and its lemmas, each once."""
        every = (*self.claims, *self.lemmas, *self.follows)
        return tuple({claim.name: claim for claim in every}.values())

    @property
    def own_lemmas(self) -> tuple[Invariant, ...]:
        """Its lemmas without its claims."""
        return tuple(e for e in (*self.lemmas, *self.follows) if e.name not in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its claims."""
        return tuple(claim.name for claim in (*self.claims, *self.steps))


class Premises(Enum):
    """Assumptions of an attempt, beside the goal itself before the step.

    NEEDED are those that it takes within small sizes. LEARNED are these and those that proofs of
    the same goal have taken; facts stand in place of the decisions of a case. DECIDED are these and
    the decisions that no fact depends on. ONE_MORE is each that is not needed, one after the other,
    with those that are.
    """

    ITSELF = 0
    NEEDED = 1
    LEARNED = 2
    DECIDED = 3
    ONE_MORE = 4
    ALL = 5


@dataclass
class Obligation:
    """A goal, which is to follow from assumptions by name.

    `what` is an action with its arguments or another part of the proof, `lemma` the goal's name.
    `case` are the decisions of its case, where a step has several.
    """

    what: str
    lemma: str
    run: Execution
    assumed: dict[str, list[Term]]
    goal: Term
    action: Action | None = None
    before: dict[str, Array] = field(default_factory=dict)
    arguments: tuple[Any, ...] = ()
    case: tuple[Any, ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """Its names and its case, which are those of the same obligation within other sizes."""
        return self.what, self.lemma, self.case

    def choices(
        self, premises: Premises, needed: Collection[str], learned: Collection[str]
    ) -> Iterator[tuple[str, ...]]:
        """Assumptions by name, if these are needed and proofs of its goal have taken those."""
        some = {self.lemma, *ALWAYS}
        if premises is not Premises.ITSELF:
            some |= set(needed)
        if premises in (Premises.LEARNED, Premises.DECIDED):
            some |= set(learned)
            if FACTS in self.assumed:
                some -= {CASE, OTHERS} if premises is Premises.LEARNED else {CASE}
        more = [n for n in self.assumed if n not in some] if premises is Premises.ONE_MORE else [""]
        for one in more:
            yield tuple(
                name
                for name in self.assumed
                if premises is Premises.ALL or name in some or name == one
            )

    def assertions(self) -> list[Term]:
        """All assumptions, and the negated goal."""
        return [*(t for each in self.assumed.values() for t in each), negation(self.goal)]

    def look(self, *, from_last: bool = False) -> Query:
        """The query without quantifiers, from all assumptions.

        They are in their order, the goal itself before the step first, or in the reverse.
        """
        given = {name: self.assumed[name] for name in ALWAYS if name in self.assumed}
        others = [name for name in self.assumed if name not in given]
        others.sort(key=lambda name: name != self.lemma)
        others = others[::-1] if from_last else others
        solver, context = z3.Solver(), z3.main_ctx()
        solver.add(*map(as_expression, self.run.space.assumed), as_expression(negation(self.goal)))
        for terms in given.values():
            solver.add(*map(as_expression, terms))
        for name in others:
            term = as_expression(conjunction(*self.assumed[name]))
            solver.add(z3.Implies(switch(name, context), term))
        return Query(_with_own_numbers(str(solver.to_smt2())), tuple(others))

    def query(self, names: Collection[str], generations: int, values: bool) -> Query:
        """The query: unsatisfiable if the goal follows from assumptions by name.

        Others are left out. See `Instantiation` for the rest.
        """
        space, made = self.run.space, self.run.instantiation(generations, values=values)
        solver, context = z3.Solver(), z3.main_ctx()
        solver.add(*space.assumed, made.assertion(negation(self.goal)), *made.axioms())
        relevant = {name: terms for name, terms in self._relevant(names).items() if terms}
        for name, terms in relevant.items():
            asserted = (made.assertion(each) for each in terms)
            solver.add(*(z3.Implies(switch(name, context), each) for each in asserted))
        switches = " ".join(switch(name, context).sexpr() for name in relevant)
        text = str(solver.to_smt2()).replace("(check-sat)", f"(check-sat-assuming ({switches}))")
        return Query(_with_own_numbers(text), tuple(relevant))

    def _relevant(self, names: Collection[str]) -> dict[str, list[Term]]:
        """The assumptions by name, without facts about functions that no other one mentions."""
        subjects, symbols = self.run.subjects, self.run.quantifiers.symbols
        given = {
            each.get_id(): each for n in names for each in self.assumed[n] if not is_known(each)
        }
        facts = {key: subjects[key][0] for key in given if key in subjects}
        waiting = [self.goal, *(each for key, each in given.items() if key not in facts)]
        reached: set[str] = set()
        while waiting:
            each = waiting.pop()
            reached |= frozenset() if is_known(each) else symbols(each)
            waiting += [given[key] for key, name in facts.items() if name in reached]
            facts = {key: name for key, name in facts.items() if name not in reached}
        return {
            n: [e for e in self.assumed[n] if is_known(e) or e.get_id() not in facts] for n in names
        }


class Query(NamedTuple):
    """A query in SMT-LIB, whose assumptions count where the truth of the same name does.

    `effort` is the limit of its steps (`STEPS`).
    """

    text: str
    names: tuple[str, ...]
    effort: int = 1


def _with_own_numbers(text: str) -> str:
    """Number the terms of a query by their order in it, and not by how many were made before."""
    numbers: dict[str, str] = {}
    return re.sub(r"![0-9]+", lambda m: numbers.setdefault(m[0], f"!{len(numbers)}"), text)


def switch(name: str, context: z3.Context) -> Any:
    """The truth that switches on the assumption of this name."""
    return z3.Bool(f"switch!{name}", context)


class Induction:
    """The obligations of a theorem in a space."""

    def __init__(self, model: Model, space: Space, theorem: Theorem) -> None:
        self.model = model
        self.space = space
        self.theorem = theorem
        self.settings = Settings(model.settings)
        space.constant = self._constant()
        self._run = run = Execution(space, theorem.forms)
        self._before = space.any_state()
        self._state = run.state(self._before)
        ranges = space.ranges(self._before, run.quantifiers)
        for name, term in ranges.items():
            run.note_subject(space.shapes[name].symbol, term)
        self._assumed: dict[str, list[Term]] = {"ranges": list(ranges.values())}
        run.known = self._assumed["ranges"]
        for lemma in theorem.lemmas:
            self._assumed[lemma.name] = [self._lemma(run, lemma, self._state)]
        self._defined, self._states = len(run.definitions), len(run.cells)

    def _constant(self) -> frozenset[str]:
        """The fields that have their initial values in every state, as no step changes them."""
        found = frozenset(self.space.shapes)
        while True:
            self.space.constant = found
            changed: set[str] = set()
            for action in self.model.enabled_actions:
                for arguments in self._instances(action):
                    run, before = Execution(self.space, self.theorem.forms), self.space.any_state()
                    self._run_step(run, action, run.state(before), run.state(before), arguments)
                    changed |= run.changed
            if not found & changed:
                return found
            found -= changed

    def _lemma(self, run: Execution, lemma: Invariant, state: StateRef) -> Term:
        """The truth of a lemma, whose faults are none: so a closed form cannot be assumed in it."""
        assumed, run.assumes_forms = run.assumes_forms, False
        truth = run.holds(lemma.holds, state, self.settings)
        if run.assumes_forms:
            raise NotProvable(f"lemma {lemma.name} has a loop with a closed form")
        run.assumes_forms = assumed
        return truth

    def all(self) -> Iterator[Obligation]:
        """All that is to be proved."""
        yield from self.initially()
        yield from self.claims()
        for action in self.model.enabled_actions:
            yield from self.steps(action)

    def initially(self) -> Iterator[Obligation]:
        """Every lemma is true in the initial state."""
        for lemma in self.theorem.lemmas:
            run = Execution(self.space, self.theorem.forms)
            truth = self._lemma(run, lemma, run.state(self.space.initial()))
            yield Obligation(AT_FIRST, lemma.name, run, {"defined": run.definitions}, truth)

    def claims(self) -> Iterator[Obligation]:
        """Every claim follows from the lemmas, and no claim is in error."""
        run = self._begin()
        proved: dict[str, list[Term]] = {}
        for claim in (*self.theorem.follows, *self.theorem.claims):
            name, truth = claim.name, run.holds(claim.holds, self._state, self.settings)
            no_error = run.no_error()
            run.faults.clear()
            given = self._assumed | proved | {"defined": list(run.definitions)}
            yield Obligation(CLAIM, name, run, given, truth, before=self._before)
            what = f"{name}: {NO_ERROR}"
            yield Obligation(CLAIM, what, run, given, no_error, before=self._before)
            proved[name] = [truth]

    def steps(self, action: Action) -> Iterator[Obligation]:
        """No rule of an action is in error, and every lemma is true after it."""
        for arguments in self._instances(action):
            waiting: list[list[Any]] = [[]]
            while waiting:
                cases = waiting.pop()
                yield from self._steps(action, arguments, cases)
                waiting += self._others

    def _steps(
        self, action: Action, arguments: tuple[Term, ...], cases: Sequence[Any]
    ) -> Iterator[Obligation]:
        self._run.begin_case(self.theorem.split, cases)
        run, guard, after = self._step(action, arguments)
        self._others = run.others
        pairs = zip(action.parameters, arguments, strict=True)
        name = f"{action.name}({', '.join(str(a) if is_known(a) else p.name for p, a in pairs)})"
        no_error, cut = run.no_error(), [negation(disjunction(*run.cuts))]
        ranges = self._ranges(action, arguments)
        given = self._assumed | {"step": ranges, "defined": [*run.definitions, *cut]}
        made = partial(
            Obligation,
            name,
            action=action,
            before=self._before,
            arguments=arguments,
            case=tuple(run.taken),
        )
        if not run.taken:
            yield made(NO_ERROR, run, given, no_error)
        else:  # an error of the guard is one in every case, and where it is false
            if not cases:
                yield made(NO_ERROR, run, given, run.guard_has_no_error)
            yield made(NO_ERROR, run, given | {CASE: list(run.path)}, no_error)
        draft = run.state(after)
        facts: list[Term] = []
        bounds = self._bounds(run, after)
        assumptions = partial(self._assumptions, run, [*ranges, guard], bounds, facts)
        for fact, truth in self._facts_of(run, action, arguments):
            yield made(fact.__name__, run, assumptions(), truth)
            facts.append(truth)
        run.split = ()
        for lemma in self.theorem.lemmas:
            truth = self._lemma(run, lemma, draft)
            yield made(lemma.name, run, assumptions(), truth)
        for claim in self.theorem.steps:
            run.faults.clear()
            truth = run.holds(claim.keeps, self._state, draft, self.settings)
            given = assumptions()
            no_error = run.no_error()  # before anything else may be executed in this run
            yield made(claim.name, run, given, truth)
            yield made(f"{claim.name}: {NO_ERROR}", run, given, no_error)

    def happens(self, action: Action) -> Iterator[Obligation]:
        """Obligations that must not all be true: no state of the invariant enables an action."""
        for arguments in self._instances(action):
            run, guard, after = self._step(action, arguments)
            step = [*self._ranges(action, arguments), guard]
            given = self._assumptions(run, step, self._bounds(run, after))
            yield Obligation(
                action.name, HAPPENS, run, given, False, action, self._before, arguments
            )

    def _begin(self) -> Execution:
        """The execution as it was when the lemmas were assumed. A lemma's faults are none."""
        self._run.forget(self._defined, self._states)
        return self._run

    def _instances(self, action: Action) -> Iterator[tuple[Term, ...]]:
        """Arguments of an action: each value of those with a size that no bound takes away."""
        values: list[Sequence[Term]] = []
        for parameter in action.parameters:
            size = self.space.sizes[parameter.over]
            is_one = not is_known(size) or parameter.over in self.theorem.sizes
            some = [self.space.argument(parameter)] if is_one else range(size)
            values.append(some)
        return itertools.product(*values)

    def _step(
        self, action: Action, arguments: tuple[Term, ...]
    ) -> tuple[Execution, Term, dict[str, Array]]:
        """A step from any state: its execution, guard, and fields afterwards."""
        run = self._begin()
        draft = run.state(self._before)
        guard = self._run_step(run, action, self._state, draft, arguments)
        return run, guard, run.cells[draft.cell]

    def _run_step(
        self,
        run: Execution,
        action: Action,
        before: StateRef,
        draft: StateRef,
        arguments: tuple[Term, ...],
    ) -> Term:
        """Run a step on a draft, and return its guard."""
        if action.budget is not None:
            raise NotProvable(f"{action.name} has a budget, which has no proof yet")
        split, run.split = run.split, ()  # the effect alone has cases
        guard = run.holds(action.guard, before, self.settings, *arguments)
        run.split = split
        run.path.append(guard)
        of_guard = list(run.faults)
        run.guard_has_no_error = run.no_error()
        run.faults.clear()
        run.run(action.effect, draft, self.settings, *arguments)
        if self.model.normalise is not None:
            run.run(self.model.normalise, draft, self.settings)
        of_effect = [(conjunction(guard, when), what) for when, what in run.faults]
        run.faults[:] = [*of_guard, *of_effect]
        return guard

    def _facts_of(
        self, run: Execution, action: Action, arguments: tuple[Term, ...]
    ) -> Iterator[tuple[Callable[..., bool], Term]]:
        """The facts of a case of a step that say something there, from its decisions."""
        taken = len(run.taken)
        run.met.clear()
        for fact in self.theorem.facts.get(action.name, ()) if taken else ():
            run.split = (*self.theorem.split, fact)
            truth = run.holds(fact, self._state, self.settings, *arguments)
            if len(run.taken) > taken:
                raise NotProvable(f"{fact.__name__} decides what its step leaves open")
            if not is_known(truth):
                yield fact, truth

    def _bounds(self, run: Execution, after: dict[str, Array]) -> list[Term]:
        """That a step ends within the bounds, if there are any: a step beyond is cut."""
        bounded = self.space.rounds is not None
        return list(self.space.ranges(after, run.quantifiers).values()) if bounded else []

    def _assumptions(
        self, run: Execution, step: list[Term], bounds: list[Term], facts: Sequence[Term] = ()
    ) -> dict[str, list[Term]]:
        """The assumptions after a step: the facts of its case are proved before those after.

        These stand for the decisions that they depend on.
        """
        given = self._assumed | {"step": step, "defined": [*run.definitions, *bounds]}
        if run.taken:
            given[CASE] = list(run.path)
        if facts:
            given[CASE] = [each for place, each in enumerate(run.path) if place in run.met]
            others = [each for place, each in enumerate(run.path) if place and place not in run.met]
            given |= {OTHERS: others} if others else {}
            given[FACTS] = list(facts)
        return given

    def _ranges(self, action: Action, arguments: tuple[Term, ...]) -> list[Term]:
        """That arguments are within their ranges."""
        found = []
        for parameter, argument in zip(action.parameters, arguments, strict=True):
            if not is_known(argument) and not isinstance(argument, Mask):
                found.append(self.space.within(parameter.over, argument))
                found.append(argument < self.space.sizes[parameter.over])
        return found
