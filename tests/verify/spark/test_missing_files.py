"""A file that is gone is named on Spark as anywhere else: `--resume` would need it too."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from waterline.checker.checking.run import run
from waterline.checker.cli.shared.errors import reporting_what_is_kept
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.identity import identity_of
from waterline.checker.search.result import Budgets
from waterline.checker.storage.plain_files import Damaged
from waterline.checker.storage.run_directory import RunDirectory, begin, resume
from waterline.model.message.environment import Environment

pytestmark = pytest.mark.spark
PROBLEM = problem_for("hw", Environment(records=1, epochs=1, restarts=0, moves=0))
LOST = "level-00002"


def begun(folder: Path) -> RunDirectory:
    return begin(str(folder), identity_of(PROBLEM), PROBLEM.model.layout.words)


def lose_a_file(folder: Path) -> None:
    next((folder / LOST).iterdir()).unlink()


def what_fails(directory: RunDirectory, choice: EngineChoice, **more: Any) -> str:
    """What a command says of it, after the name of the level."""
    with (
        closing(directory),
        pytest.raises(Damaged) as failed,
        reporting_what_is_kept(directory),
    ):
        run(PROBLEM, choice, directory=directory, **more)
    before, _, after = str(failed.value).partition(LOST)
    assert before == f"{directory.storage.location}/"
    return after


def test_a_file_that_is_gone_is_named(spark_context: Any, tmp_path: Path) -> None:
    choice = EngineChoice(session=spark_context, driver_levels=0)
    before, meanwhile = tmp_path / "before", tmp_path / "meanwhile"
    with closing(begun(before)) as directory:
        run(PROBLEM, choice, budgets=Budgets(max_depth=2), directory=directory)
    lose_a_file(before)

    def watch(snapshot: Any) -> None:
        if snapshot.depth == 2:
            lose_a_file(meanwhile)

    assert what_fails(resume(str(before)), choice).endswith(".states is missing")
    assert what_fails(begun(meanwhile), choice, watch=watch).endswith(".states is missing")
