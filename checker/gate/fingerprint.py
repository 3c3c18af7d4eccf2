"""Fingerprint of a search: equal fingerprints mean equal verdicts, counts and traces."""

from __future__ import annotations

import hashlib

from checker.budgets import Budgets
from checker.compiled.problem_digest import problem_digest
from checker.problems.problem import Problem
from checker.program_digest import program_digest


def fingerprint(problem: Problem, budgets: Budgets) -> str:
    """A name for a question, its rules, and the program that answers it.

    Raises `NotCompilable` and `TooLargeToNumber` for a problem that has no machine code.
    """
    made_of = f"{program_digest()}\n{problem_digest(problem)}\n{budgets!r}"
    return hashlib.sha256(made_of.encode()).hexdigest()[:32]
