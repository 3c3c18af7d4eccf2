"""Load, and compile where need be, all that the attempts will use, before the first is forked."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from lab.fuzz.faults.exhaustive import SPACE
from lab.fuzz.faults.programs import PROBLEMS
from waterline.checker.cli.check import check_command
from waterline.checker.cli.shared.options import fill
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.storage import programs


def load_spark() -> None:
    """Load what attempts on Spark import."""
    for name in ("pyspark.sql.connect.session", "pyspark.sql.connect.client.retries"):
        importlib.import_module(name)
    importlib.import_module("waterline.checker.search.engines.session")
    importlib.import_module("waterline.checker.search.engines.spark_connect")


def make_ready(problems: Iterable[tuple[str, ...]] = (*PROBLEMS.values(), SPACE)) -> None:
    """Everything for these problems. No thread is left running: one that has any forks ill."""
    for arguments in problems:
        context = check_command.make_context("check", list(arguments))
        problem = problem_from(fill(ProblemOptions, context.params))
        prepare(problem)
        programs.make_ready(programs.over_files(problem.model.layout.words))
