"""Nothing of the working folder is run by Spark's processes, but what a model imports is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.certificates import certificate_of
from tests.support.planted import COUNTER, plant, run_in, run_traps
from waterline.checker.kafka.families import problem_for
from waterline.model.message.environment import Environment

pytestmark = pytest.mark.spark
COMMANDS = """
import functools
import sys
from waterline.checker.search.engines import engine

# So that Spark explores the few states that there are.
engine.EngineChoice = functools.partial(engine.EngineChoice, driver_levels=0)

import waterline
import beside
from waterline.checker.cli.commands import run_command

print("states:", waterline.check(beside.counter, engine="spark", master="local[1]").distinct)
sys.argv = ["waterline", "certify", "certificate", "--master", "local[1]"]
sys.exit(run_command("waterline"))
"""


def test_spark_runs_nothing_of_the_working_folder(class_archive: None, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    plant(folder)
    plant_spark(tmp_path)
    problem = problem_for("epoch", Environment(records=1, epochs=1, restarts=0, moves=0))
    certificate_of(problem, folder / "certificate")
    # The model imports a module beside it, which its workers find where this process does.
    (tmp_path / "limits.py").write_text("HIGHEST = 3\n")
    (tmp_path / "beside.py").write_text("import limits\n" + COUNTER.replace("3", "limits.HIGHEST"))
    (tmp_path / "script.py").write_text(COMMANDS)
    printed = run_in(folder, tmp_path / "script.py")

    assert run_traps(tmp_path) == []
    assert "states: 4" in printed
    assert "CERTIFIED epoch: HOLDS" in printed


def plant_spark(above: Path) -> None:
    """Where PySpark would look for Spark first: in the folder above the working folder."""
    (above / "jars").mkdir()
    (above / "bin").mkdir()
    trap = above / "bin" / "spark-submit"
    trap.write_text('#!/bin/sh\necho > "$0.ran"\nexit 1\n')
    trap.chmod(0o755)
