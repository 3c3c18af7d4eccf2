"""Load, and compile where need be, all that the attempts will use, before the first is forked."""

from __future__ import annotations

from collections.abc import Iterable

from lab.fuzz.faults.exhaustive import SPACE
from lab.fuzz.faults.programs import PROBLEMS
from waterline.checker.cli.check import check_command
from waterline.checker.cli.shared.options import fill
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.storage import programs


def make_ready(problems: Iterable[tuple[str, ...]] = (*PROBLEMS.values(), SPACE)) -> None:
    """Everything for these problems. No thread is left running: one that has any forks ill."""
    for arguments in problems:
        context = check_command.make_context("check", list(arguments))
        problem = problem_from(fill(ProblemOptions, context.params))
        prepare(problem)
        programs.make_ready(programs.over_files(problem.model.layout.words))
