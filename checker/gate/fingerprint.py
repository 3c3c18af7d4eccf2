"""Fingerprint of a search: the name of its answer, which has a record of what rules read."""

from __future__ import annotations

import hashlib

from checker.budgets import Budgets
from checker.compiled.problem_digest import question_digest
from checker.problems.problem import Problem
from checker.program_digest import program_digest


def fingerprint(problem: Problem, budgets: Budgets) -> str:
    """A name for a question, the functions that it calls, and the program that answers it.

    Raises `NotCompilable` for a function whose text cannot be read.
    """
    made_of = f"{program_digest()}\n{question_digest(problem)}\n{budgets!r}"
    return hashlib.sha256(made_of.encode()).hexdigest()[:32]
