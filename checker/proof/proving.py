"""The whole course of a proof: the search, the obligations, counterexamples, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import Enum

from waterline.checker.problem.problem import Problem
from waterline.checker.proof.counterexample import Counterexample, counterexample_of, unknowns_of
from waterline.checker.proof.obligations import Induction, Obligation, Query, Theorem
from waterline.checker.proof.side_by_side import Solvers
from waterline.checker.proof.solver import (
    LOOKS,
    RECIPE,
    STEPS,
    Attempt,
    Outcome,
    answer,
    ask,
    names_of,
    query_of,
)
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.result import Result
from waterline.checker.search.result import Verdict as Found
from waterline.checker.search.rule_errors import explain_fault
from waterline.checker.search.search import SearchFault, search
from waterline.model.core.transition_system import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A theorem with its words: `scope` is what it is about, `check` the command that searches.

    `searched` are the bounds of the search, which `searched_in` describes, and `small` those of
    counterexamples to induction. `options` identify it in a document; `file` is that of a user's
    model, "" for Kafka's. `suggest` makes lemmas that exclude a counterexample, as Python, and says
    how many states they are true of.
    """

    name: str
    theorem: Theorem
    searched: dict[str, int]
    searched_in: str
    small: dict[str, int]
    scope: str
    trusted: str
    check: str
    options: dict[str, object]
    file: str = ""
    suggest: Callable[[Counterexample], tuple[Sequence[str], int]] | None = None


class Verdict(Enum):
    """The verdict about all claims together."""

    PROVED = "PROVED"
    NOT_PROVED = "NOT PROVED"
    UNDECIDED = "UNDECIDED"
    VIOLATED = "VIOLATED"


@dataclass(frozen=True, slots=True)
class Answer:
    """An obligation by its two names, and the last attempt at it."""

    what: str
    lemma: str
    attempt: Attempt


@dataclass(slots=True)
class Proof:
    """The parts of a proof so far.

    `searched` is None without a search. `refuted` is a step out of the lemmas within small sizes,
    with the name of what is false after it. `never` are the actions that no state of the invariant
    enables there: lemmas that contradict each other would prove anything.
    """

    searched: Result | None = None
    answered: list[Answer] = field(default_factory=list)
    refuted: tuple[str, Counterexample] | None = None
    never: list[str] = field(default_factory=list)

    @property
    def violated(self) -> tuple[str, ...]:
        """Claims and lemmas that the search has found to be false, in its order."""
        if self.searched is None:
            return ()
        found = self.searched.invariants
        return tuple(each.name for each in found if each.verdict is Found.VIOLATED)

    @property
    def undecided(self) -> list[Answer]:
        """Obligations that the solver has no answer to."""
        return [each for each in self.answered if each.attempt.outcome is not Outcome.PROVED]

    def verdict(self, theorem: Theorem) -> Verdict:
        """The verdict on the theorem's claims."""
        if set(theorem.names) & set(self.violated):
            return Verdict.VIOLATED
        if self.violated or self.refuted or self.never:
            return Verdict.NOT_PROVED
        return Verdict.UNDECIDED if self.undecided or not self.answered else Verdict.PROVED


def search_first(
    theorem: Theorem, sizes: dict[str, int], announce: Callable[[str], None] = lambda line: None
) -> Result:
    """Search all states within these sizes for one that breaks a claim or a lemma.

    Raises `Raised` where a rule is in error.
    """
    model = theorem.model(sizes)
    problem = Problem(model, theorem.invariants, properties=theorem.steps)
    prepare(problem, announce=announce)
    with closing(MemoryEngine(problem)) as engine:
        try:
            return search(problem, engine)
        except SearchFault as fault:
            raise explain_fault(problem, fault) from None


@dataclass(slots=True)
class _Course:
    """The attempts at an obligation so far: their number, their steps, and the one that proves it.

    Each takes what its number names; a last one is `narrow`, from the core of the proof alone.
    """

    place: int
    obligation: Obligation
    number: int = 1
    steps: int = 0
    proved: Attempt | None = None

    def go_on(self, answered: Attempt, *, narrow: bool) -> Query | None:
        """Take note of an answer, and return the next query, if there is one."""
        if self.proved is not None:
            if answered.outcome is not Outcome.PROVED:
                every = tuple(names_of(self.obligation, self.number))
                self.proved = replace(self.proved, takes=every)
            return None
        self.steps += answered.steps
        if answered.outcome is Outcome.PROVED:
            self.proved = answered
            return query_of(self.obligation, self.number, answered.takes) if narrow else None
        if self.number == len(RECIPE):
            return None
        self.number += 1
        return query_of(self.obligation, self.number)

    @property
    def answer(self) -> Answer:
        """The answer, after the last query."""
        last = self.proved or Attempt(Outcome.UNDECIDED, 0, 0)
        attempt = replace(last, number=self.number, steps=self.steps)
        return Answer(self.obligation.what, self.obligation.lemma, attempt)


def prove_all(
    proof: Proof,
    induction: Induction,
    small: Induction,
    watch: Callable[[int, str], None] = lambda done, what: None,
    *,
    threads: int = 0,
    narrow: bool = False,
) -> None:
    """Try every obligation, up to the first with a counterexample within small sizes.

    An obligation that the first attempt leaves open is looked at there, shortly, and once more
    before the last attempts, which take long and would not refute it. With `narrow` an attempt
    takes only what proves the goal without the rest of what it was given.
    """
    refuted = _Refutation(small)
    done: dict[int, Answer] = {}
    with Solvers[_Course](ask, threads) as solvers:
        courses = (_Course(*each) for each in enumerate(induction.all()))
        for course, attempt in solvers.ahead(
            (each, query_of(each.obligation, 1)) for each in courses
        ):
            if attempt.outcome is not Outcome.PROVED and course.number in LOOKS:
                found = refuted.by(course.obligation, LOOKS[course.number])
                if found is not None:
                    proof.refuted = course.obligation.lemma, found
                    break
            query = course.go_on(attempt, narrow=narrow)
            if query is not None:
                solvers.give(course, query)
            else:
                done[course.place] = course.answer
                watch(len(done), course.obligation.what)
    proof.answered = [done[place] for place in sorted(done)]


@dataclass(slots=True)
class _Refutation:
    """Counterexamples within small sizes, to the obligations of one action after the other."""

    small: Induction
    _within: dict[tuple[str, str], Obligation] = field(default_factory=dict)

    def by(self, obligation: Obligation, steps: int) -> Counterexample | None:
        """A counterexample to an obligation."""
        key = obligation.what, obligation.lemma
        if key not in self._within and obligation.action is not None:
            same = self.small.model.action(obligation.action.name)
            self._within = {(each.what, each.lemma): each for each in self.small.steps(same)}
        return refute(self.small, self._within[key], steps) if key in self._within else None


def induct(subject: Subject, proof: Proof | None = None, *, narrow: bool = False) -> Proof:
    """The proof by induction, after a search or without. See `prove_all`."""
    theorem, proof = subject.theorem, proof or Proof()
    small = theorem.within(subject.small)
    proof.never = never_happen(small)
    prove_all(proof, theorem.induction(), small, narrow=narrow)
    return proof


def refute(small: Induction, obligation: Obligation, steps: int = STEPS) -> Counterexample | None:
    """A counterexample to an obligation within small sizes that the interpreter confirms."""
    outcome, model = answer(obligation, unknowns_of(small, obligation), steps)
    if outcome is not Outcome.REFUTED:
        return None
    found = counterexample_of(small, obligation, model)
    return found if found.is_one(small) else None


def never_happen(induction: Induction) -> list[str]:
    """Actions that no state of the invariant enables within small sizes, as far as we can tell.

    The interpreter agrees on each that a state enables.
    """
    actions = induction.model.enabled_actions
    expected = induction.theorem.never
    return [e.name for e in actions if e.name not in expected and not _happens(induction, e)]


def _happens(induction: Induction, action: Action) -> bool:
    for obligation in induction.happens(action):
        outcome, model = answer(obligation)
        if outcome is Outcome.REFUTED:
            found = counterexample_of(induction, obligation, model)
            if found.after is not None and found.begins_in(induction):
                return True
    return False
