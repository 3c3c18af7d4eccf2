"""The solver: one query, answered in a context of its own.

Limits are steps of the solver (`rlimit`), never seconds: an answer depends on the query, on the
release of z3 and on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import z3

from waterline.checker.proof.obligations import Obligation, Premises, Query, switch

STEPS = 4_000_000
"""The unit of effort: some 1 to 2 seconds of a core."""


class Trial(NamedTuple):
    """An attempt of the recipe: assumptions, generations of instances, if values are seeds, effort.

    A look within small sizes comes before it unless `from_last` is None: the look begins from the
    last lemma or from the first one, and adds to what an earlier look has found.
    """

    premises: Premises
    generations: int = 1
    values: bool = False
    effort: int = 4
    from_last: bool | None = None


RECIPE = (
    Trial(Premises.ITSELF),
    Trial(Premises.LEARNED),
    Trial(Premises.NEEDED, from_last=True),
    Trial(Premises.LEARNED),
    Trial(Premises.NEEDED, generations=2),
    Trial(Premises.NEEDED, from_last=False),
    Trial(Premises.LEARNED),
    Trial(Premises.NEEDED, generations=2),
    Trial(Premises.NEEDED, values=True),
    Trial(Premises.ONE_MORE, effort=1),
    Trial(Premises.LEARNED, effort=16),
    Trial(Premises.DECIDED, effort=16),
    Trial(Premises.LEARNED, generations=2, effort=16),
    Trial(Premises.ALL, effort=16),
    Trial(Premises.ALL, values=True, effort=16),
)
SECOND_ROUND = 10
"""The first attempt that waits until all other obligations have been proved."""
EFFORT = 32
"""The effort of a look, of a counterexample, and of an attempt that is made again."""


class Outcome(Enum):
    """The answer to a query."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Attempt:
    """The last attempt at a query: its number, from 1 on, and the steps of all.

    `takes` are the assumptions that a proof took, the solver's unsatisfiable core, of those that it
    was given.
    """

    outcome: Outcome
    number: int
    steps: int
    takes: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


Ask = Callable[[Query, set[Any]], Attempt]
"""A solver. It is in the set while it runs, if `interrupt()` ends it."""


def query_of(obligation: Obligation, number: int, names: Collection[str]) -> Query:
    """The query of the attempt of this number, from these assumptions."""
    trial = RECIPE[number - 1]
    query = obligation.query(names, trial.generations, trial.values)
    return query._replace(effort=trial.effort)


def ask(query: Query, running: set[Any]) -> Attempt:
    """Answer one query. Only "proved" is an answer of use."""
    solver = z3.Solver(ctx=z3.Context())
    solver.set("smt.mbqi", False)
    solver.set("smt.auto_config", False)
    solver.set("ctrl_c", False)  # else it ends this query, and Python does not notice it
    solver.set("rlimit", query.effort * STEPS)
    solver.from_string(query.text)
    running.add(solver)
    switches = {name: switch(name, solver.ctx) for name in query.names}
    found = solver.check(*switches.values())
    running.discard(solver)
    steps = _steps_of(solver)
    if found != z3.unsat:
        return Attempt(Outcome.UNDECIDED, 1, steps)
    return Attempt(Outcome.PROVED, 1, steps, tuple(_in_core(solver, switches)))


def look(query: Query, running: set[Any]) -> Attempt:
    """Find which assumptions a goal needs within small sizes, or refute it there.

    It takes each of those that are found: the goal does not follow from the others, as far as the
    steps allow to see that.
    """
    solver, switches = _solver_of(query, query.names)
    running.add(solver)
    found, steps = solver.check(*switches.values()), _steps_of(solver)
    running.discard(solver)
    if found != z3.unsat:
        return Attempt(Outcome.REFUTED if found == z3.sat else Outcome.UNDECIDED, 1, steps)
    needed = _in_core(solver, switches)
    solver, switches = _solver_of(query, needed)
    running.add(solver)
    for name in needed[::-1]:
        others = {each: switches[each] for each in needed if each != name}
        if len(others) < len(needed) and solver.check(*others.values()) == z3.unsat:
            needed = _in_core(solver, others)
    running.discard(solver)
    return Attempt(Outcome.PROVED, 1, steps + _steps_of(solver), tuple(needed))


def _in_core(solver: Any, switches: dict[str, Any]) -> list[str]:
    core = solver.unsat_core()
    return [name for name in switches if any(switches[name].eq(each) for each in core)]


def _solver_of(query: Query, some: Collection[str]) -> tuple[Any, dict[str, Any]]:
    """A solver that has a query, but of its assumptions some alone, with their switches."""
    context = z3.Context()
    logic = z3.to_symbol("QF_UFLIA", context)  # `z3.SolverFor` makes it where another thread works
    solver = z3.Solver(z3.Z3_mk_solver_for_logic(context.ref(), logic), context)
    solver.set("ctrl_c", False)
    solver.set("rlimit", query.effort * STEPS)
    left_out = {switch(name, context).decl() for name in query.names if name not in some}
    for each in z3.parse_smt2_string(query.text, ctx=context):
        if not (z3.is_implies(each) and each.arg(0).decl() in left_out):
            solver.add(each)
    return solver, {name: switch(name, context) for name in some}


def _steps_of(solver: Any) -> int:
    return int({key: value for key, value in solver.statistics()}.get("rlimit count", 0))  # noqa: C416


def answer(obligation: Obligation, least: Iterable[Any] = ()) -> tuple[Outcome, Any]:
    """Answer a query without quantifiers, with the solver's model if it is refuted.

    Of all models it is the one with the least value of each of the terms `least`, in their order.
    Without that it would depend on the earlier queries of the process, whose memory z3 shares.
    """
    solver = z3.SolverFor("QF_UFLIA")
    solver.set("ctrl_c", False)
    solver.set("rlimit", EFFORT * STEPS)
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
