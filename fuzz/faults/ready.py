"""Load, and compile where need be, all that the attempts will use, before the first is forked."""

from __future__ import annotations

from collections.abc import Iterable

from checker.cli.check.command import check_command
from checker.cli.shared.problem_options import problem_from, take_given
from checker.search.engines.prepare import prepare
from checker.storage import programs
from fuzz.faults.exhaustive import SPACE
from fuzz.faults.programs import PROBLEMS


def make_ready(problems: Iterable[tuple[str, ...]] = (*PROBLEMS.values(), SPACE)) -> None:
    """Everything for these problems. No thread is left running: one that has any forks ill."""
    for arguments in problems:
        context = check_command.make_context("check", list(arguments))
        problem = problem_from(take_given(dict(context.params)))
        prepare(problem)
        programs.make_ready(programs.over_files(problem.model.layout.words))
