"""The second solver, cvc5: it answers the queries of a certificate, which z3 has answered before.

It reads their text, so that it shares the translation of rules with z3, and none of its reasoning.
"""

from __future__ import annotations

from typing import Any

import cvc5

from waterline.checker.proof.obligations import Query
from waterline.checker.proof.solver import Attempt, Outcome

STEPS = 4_000_000
"""Units of its resources for a query: some ten seconds of a core."""


def ask(query: Query, running: set[Any]) -> Attempt:
    """Answer one query. Only "proved" is an answer of use."""
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setLogic("UFLIA")
    solver.setOption("rlimit", str(STEPS))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, query.text, "query")
    said = ""
    while not (command := parser.nextCommand()).isNull():
        said = command.invoke(solver, parser.getSymbolManager()).strip() or said
    used = solver.getStatistics().get(True, True)["resource::resourceUnitsUsed"]["value"]
    return Attempt(Outcome.PROVED if said == "unsat" else Outcome.UNDECIDED, 1, int(used))


def name() -> str:
    """Return it with its version."""
    return f"cvc5 {cvc5.__version__}"
