"""The whole course of a proof: the search, the obligations, counterexamples, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple

from waterline.checker.problem.problem import Problem
from waterline.checker.proof.counterexample import Counterexample, counterexample_of, unknowns_of
from waterline.checker.proof.obligations import (
    CLAIM,
    Induction,
    Obligation,
    Query,
    Theorem,
)
from waterline.checker.proof.side_by_side import Solvers
from waterline.checker.proof.solver import (
    EFFORT,
    RECIPE,
    SECOND_ROUND,
    Ask,
    Attempt,
    Outcome,
    answer,
    ask,
    look,
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

    def with_all(self) -> Answer:
        """The same, as if the proof took all that the attempt was given."""
        return replace(self, attempt=replace(self.attempt, takes=self.attempt.given))


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


def prove_all(
    proof: Proof,
    induction: Induction,
    small: Induction,
    watch: Callable[[int, str], None] = lambda done, what: None,
    *,
    threads: int = 0,
) -> None:
    """Try every obligation, up to the first with a counterexample within small sizes."""
    within = _Within(small)
    done: dict[int, Answer] = {}
    left: Iterable[_Course] = (
        _Course(*each, _attempts(each[1], within)) for each in enumerate(induction.all())
    )
    with Solvers[_Course](threads) as solvers:
        while left:
            undecided: list[_Course] = []
            for course, attempt in solvers.ahead((each, each.go_on()) for each in left):
                try:
                    asked = course.attempts.send(attempt)
                except StopIteration as end:
                    if isinstance(end.value, Counterexample):
                        proof.refuted = course.obligation.lemma, end.value
                        undecided.clear()
                        break
                    done[course.place] = end.value
                    watch(len(done), course.obligation.what)
                else:
                    if asked is None:
                        undecided.append(course)
                    else:
                        solvers.give(course, asked)
            left = undecided
    proof.answered = [done[place] for place in sorted(done)]


_Ask = tuple[Query, Ask]
_Attempts = Generator["_Ask | None", Attempt, "Answer | Counterexample"]


class _Course(NamedTuple):
    place: int
    obligation: Obligation
    attempts: _Attempts

    def go_on(self) -> _Ask:
        """The first query of a round."""
        query = next(self.attempts)
        assert query is not None
        return query


def _attempts(obligation: Obligation, within: _Within) -> _Attempts:
    """The attempts at an obligation, one after the other; None: once all others are proved.

    One that the first attempts leave open is looked at within small sizes: it is refuted there, or
    the lemmas that it takes there are those of the next attempts.
    """
    tried = set()
    needed: dict[str, None] = {}
    learned = within.learned.setdefault(obligation.lemma, {})
    steps = 0
    for number, trial in enumerate(RECIPE, 1):
        if number == SECOND_ROUND:
            yield None
        from_last = trial.from_last
        if from_last is not None and (same := within.same(obligation)) is not None:
            looked = yield same.look(from_last=from_last)._replace(effort=EFFORT), look
            steps += looked.steps
            if looked.outcome is Outcome.REFUTED and (found := refute(within.small, same)):
                return found
            needed.update(dict.fromkeys(looked.takes))
        for names in obligation.choices(trial.premises, needed, learned):
            if (same_as := (*names, trial.generations, trial.values, trial.effort)) in tried:
                continue
            tried.add(same_as)
            attempt = yield query_of(obligation, number, names), ask
            steps += attempt.steps
            if attempt.outcome is Outcome.PROVED:
                learned.update(dict.fromkeys(attempt.takes))
                proved = Attempt(Outcome.PROVED, number, steps, attempt.takes, names)
                return Answer(obligation.what, obligation.lemma, proved)
    return Answer(obligation.what, obligation.lemma, Attempt(Outcome.UNDECIDED, number, steps))


def narrow_all(proof: Proof, induction: Induction, *, threads: int = 0) -> None:
    """Have each attempt take only what proves the goal without the rest of what it was given."""
    with Solvers[Answer](threads) as solvers:
        queries = (
            (each, (query_of(obligation, each.attempt.number, each.attempt.takes), ask))
            for obligation, each in zip(induction.all(), proof.answered, strict=True)
        )
        answers = [
            (each, again.outcome is Outcome.PROVED) for each, again in solvers.ahead(queries)
        ]
    proof.answered = [each if narrower else each.with_all() for each, narrower in answers]


_ACTIONS = 3
"""Actions whose obligations within small sizes are kept: their terms take some 100 MB each."""


@dataclass(slots=True)
class _Within:
    """The obligations within small sizes, made when they are looked for.

    `learned` are the assumptions that proofs of a goal have taken so far, by its name.
    """

    small: Induction
    learned: dict[str, dict[str, None]] = field(default_factory=dict)
    _made: dict[str, dict[tuple[Any, ...], Obligation]] = field(default_factory=dict)

    def same(self, obligation: Obligation) -> Obligation | None:
        """An obligation within small sizes, which has all its cases."""
        name = obligation.what if obligation.action is None else obligation.action.name
        if name not in self._made:
            if len(self._made) == _ACTIONS:
                self._made.pop(next(iter(self._made)))
            self._made[name] = {each.key: each for each in self._make(obligation)}
        return self._made[name].get(obligation.key)

    def _make(self, obligation: Obligation) -> Iterator[Obligation]:
        if obligation.action is not None:
            return self.small.steps(self.small.model.action(obligation.action.name))
        return self.small.claims() if obligation.what == CLAIM else self.small.initially()


def induct(subject: Subject, proof: Proof | None = None) -> Proof:
    """The proof by induction, after a search or without. See `prove_all`."""
    theorem, proof = subject.theorem, proof or Proof()
    small = theorem.within(subject.small)
    proof.never = never_happen(small)
    prove_all(proof, theorem.induction(), small)
    return proof


def refute(small: Induction, obligation: Obligation) -> Counterexample | None:
    """A step within small sizes that refutes an obligation, as the interpreter confirms."""
    if obligation.action is None:
        return None
    outcome, model = answer(obligation, unknowns_of(small, obligation))
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
