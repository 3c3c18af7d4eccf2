"""The solver: one query, answered in a context of its own.

Limits are steps of the solver (`rlimit`), never seconds: an answer depends on the query, on the
release of z3 and on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import z3

from waterline.checker.proof.obligations import Obligation, switch

STEPS = 8_000_000
"""Some 4 seconds of a core."""
RECIPE = (
    (True, 1, False),
    (True, 1, True),
    (False, 1, False),
    (True, 2, False),
    (False, 1, True),
    (True, 2, True),
)
"""Attempts at a query: with the lemmas of its hint alone or with all, generations of instances, and
whether values are seeds.
"""


class Outcome(Enum):
    """The answer to a query."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Attempt:
    """The last attempt at a query: its number, from 1 on, and the steps of all."""

    outcome: Outcome
    number: int
    steps: int


class Hint(NamedTuple):
    """How an obligation is proved: from assumptions by name, as `Obligation.text` takes them."""

    names: tuple[str, ...]
    generations: int
    values: bool


def prove(obligation: Obligation, attempts: int = len(RECIPE)) -> Attempt:
    """Try to prove an obligation by the one recipe, or by its first attempts."""
    steps = 0
    for number, (hinted, generations, values) in enumerate(RECIPE[:attempts], 1):
        attempt = ask(obligation.text(obligation.names(hinted=hinted), generations, values))
        steps += attempt.steps
        if attempt.outcome is Outcome.PROVED:
            return Attempt(attempt.outcome, number, steps)
    return Attempt(Outcome.UNDECIDED, attempts, steps)


def core_of(obligation: Obligation, number: int) -> Hint:
    """The assumptions that the attempt of this number took: it succeeds with them alone.

    They are the solver's unsatisfiable core, or all, where it does not prove the goal from these.
    """
    hinted, generations, values = RECIPE[number - 1]
    names = obligation.names(hinted=hinted)
    solver = _solver(obligation.text(names, generations, values, switched=True))
    solver.set("smt.core.minimize", True)
    if solver.check(*(switch(name, solver.ctx) for name in names)) == z3.unsat:
        core = set(map(str, solver.unsat_core()))
        fewer = [name for name in names if str(switch(name)) in core]
        if ask(obligation.text(fewer, generations, values)).outcome is Outcome.PROVED:
            names = fewer
    return Hint(tuple(names), generations, values)


def _solver(query: str) -> z3.Solver:
    """A solver of one query, in a context of its own."""
    solver = z3.Solver(ctx=z3.Context())
    solver.set("smt.mbqi", False)
    solver.set("smt.auto_config", False)
    solver.set("rlimit", STEPS)
    solver.from_string(query)
    return solver


def ask(query: str) -> Attempt:
    """Answer one query. Only "proved" is an answer of use."""
    solver = _solver(query)
    found = solver.check()
    taken = {key: value for key, value in solver.statistics()}.get("rlimit count", 0)  # noqa: C416
    outcome = Outcome.PROVED if found == z3.unsat else Outcome.UNDECIDED
    return Attempt(outcome, 1, int(taken))


def answer(obligation: Obligation, least: Iterable[Any] = ()) -> tuple[Outcome, Any]:
    """Answer a query without quantifiers, with the solver's model if it is refuted.

    Of all models it is the one with the least value of each of the terms `least`, in their order.
    Without that it would depend on the earlier queries of the process, whose memory z3 shares.
    """
    solver = z3.SolverFor("QF_UFLIA")
    solver.set("rlimit", 10 * STEPS)
    given = [*obligation.run.space.assumed, *obligation.assertions()]
    solver.add(*(z3.BoolVal(t) if isinstance(t, bool) else t for t in given))
    found = solver.check()
    if found != z3.sat:
        return (Outcome.PROVED if found == z3.unsat else Outcome.UNDECIDED), None
    model = solver.model()
    for term in least:
        model = _with_least(solver, model, z3.If(term, 1, 0) if z3.is_bool(term) else term)
    return Outcome.REFUTED, model


def _with_least(solver: z3.Solver, model: Any, term: Any) -> Any:
    """Return a model with the least value of a term, and let the solver keep to that value."""
    value = model.eval(term, model_completion=True)
    while solver.check(term < value) == z3.sat:
        model = solver.model()
        value = model.eval(term, model_completion=True)
    solver.add(term == value)
    return model
