"""Fingerprint of a search: the name of its answer, which has a record of what rules read."""

from __future__ import annotations

import hashlib

from waterline.checker.compiler.problem_digest import question_digest
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.program_digest import program_digest
from waterline.checker.search.budgets import Budgets


def fingerprint(problem: Problem, budgets: Budgets) -> str:
    """A name for a question, the functions that it calls, and the program that answers it.

    Raises `NotCompilable` for a function whose text cannot be read.
    """
    made_of = f"{program_digest()}\n{question_digest(problem)}\n{budgets!r}"
    return hashlib.sha256(made_of.encode()).hexdigest()[:32]
