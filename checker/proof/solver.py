"""The solver: one query, answered in a context of its own.

Limits are steps of the solver (`rlimit`), never seconds: an answer depends on the query, on the
release of z3 and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import z3

from waterline.checker.proof.obligations import Obligation, Premises, Query, switch

STEPS = 16_000_000
"""Some 3 to 8 seconds of a core."""
RECIPE = (
    (Premises.HINT, 1, False),
    (Premises.ITSELF, 2, False),
    (Premises.HINT, 2, False),
    (Premises.HINT, 1, True),
    (Premises.HINT, 2, True),
    (Premises.ALL, 1, False),
    (Premises.ALL, 1, True),
)
"""Attempts at a query: what is assumed, generations of instances, and whether values are seeds."""
LOOKS = {1: 1_000_000, 5: STEPS}
"""Steps for a look within small sizes, by the attempt that it comes after."""


class Outcome(Enum):
    """The answer to a query."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Attempt:
    """The last attempt at a query: its number, from 1 on, and the steps of all.

    `takes` are the assumptions that a proof took: the solver's unsatisfiable core.
    """

    outcome: Outcome
    number: int
    steps: int
    takes: tuple[str, ...] = ()


Ask = Callable[[Query, set[Any]], Attempt]
"""A solver. It is in the set while it runs, if `interrupt()` ends it."""


def names_of(obligation: Obligation, number: int) -> list[str]:
    """The assumptions that the attempt of this number takes."""
    return obligation.names(RECIPE[number - 1][0])


def query_of(obligation: Obligation, number: int, names: Collection[str] | None = None) -> Query:
    """The query of the attempt of this number, or one like it from these assumptions alone."""
    _, generations, values = RECIPE[number - 1]
    given = names_of(obligation, number) if names is None else names
    return obligation.query(given, generations, values)


def ask(query: Query, running: set[Any]) -> Attempt:
    """Answer one query. Only "proved" is an answer of use."""
    solver = z3.Solver(ctx=z3.Context())
    solver.set("smt.mbqi", False)
    solver.set("smt.auto_config", False)
    solver.set("ctrl_c", False)  # else it ends this query, and Python does not notice it
    solver.set("rlimit", STEPS)
    solver.from_string(query.text)
    running.add(solver)
    switches = {name: switch(name, solver.ctx) for name in query.names}
    found = solver.check(*switches.values())
    running.discard(solver)
    steps = int({key: value for key, value in solver.statistics()}.get("rlimit count", 0))  # noqa: C416
    if found != z3.unsat:
        return Attempt(Outcome.UNDECIDED, 1, steps)
    core = solver.unsat_core()
    takes = tuple(n for n, given in switches.items() if any(given.eq(each) for each in core))
    return Attempt(Outcome.PROVED, 1, steps, takes)


def answer(
    obligation: Obligation, least: Iterable[Any] = (), steps: int = STEPS
) -> tuple[Outcome, Any]:
    """Answer a query without quantifiers, with the solver's model if it is refuted.

    Of all models it is the one with the least value of each of the terms `least`, in their order.
    Without that it would depend on the earlier queries of the process, whose memory z3 shares.
    """
    solver = z3.SolverFor("QF_UFLIA")
    solver.set("ctrl_c", False)
    solver.set("rlimit", steps)
    given = [*obligation.run.space.assumed, *obligation.assertions()]
    solver.add(*(z3.BoolVal(t) if isinstance(t, bool) else t for t in given))
    found = solver.check()
    if found != z3.sat:
        return (Outcome.PROVED if found == z3.unsat else Outcome.UNDECIDED), None
    model = solver.model()
    solver.set("rlimit", 10 * STEPS)
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
