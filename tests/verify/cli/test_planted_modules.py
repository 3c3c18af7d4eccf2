"""No command runs what lies in the working folder."""

from __future__ import annotations

from pathlib import Path

from tests.cli.test_planted_modules import folder, script
from tests.support.certificates import certificate_of, keys_in, put_keys
from tests.support.planted import COUNTER, run_in, run_traps
from waterline.checker.kafka.families import problem_for
from waterline.model.message.environment import Environment

__all__ = ["folder"]

COMMANDS = """
import sys
import waterline
from waterline.checker.cli.commands import run_command

def run(line):
    sys.argv = ["waterline", *line.split()]
    assert run_command("waterline") == 0, line

bounds = "--records 1 --epochs 1"
run("gate gate.toml --no-cache --jobs 2")
run("certify certificate --engine local --jobs 2")
run(f"check --protocol epoch {bounds} --restarts 1 --engine local")
run(f"simulate --protocol epoch {bounds} --walks 20 --engine local")
run(f"matrix --only version=epoch --only faults=none {bounds} --no-unbounded")
print("states:", waterline.check(counter, threads=2).distinct)
"""
"""In one process, to import everything once."""


def test_no_command_runs_what_lies_in_its_folder(folder: Path) -> None:
    problem = problem_for("epoch", Environment(records=1, epochs=1, restarts=1, moves=0))
    put_keys(certificate_of(problem, folder / "certificate"), keys_in(folder / "certificate"))
    printed = run_in(folder, script(folder, COUNTER + COMMANDS))

    assert run_traps(folder) == []
    assert printed.count("as expected") == 2
    assert "CERTIFIED epoch: HOLDS" in printed
    assert "states: 4" in printed
