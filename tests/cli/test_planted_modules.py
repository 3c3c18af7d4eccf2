"""What lies in the working folder is not run: in CI that is a stranger's pull request."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.certificates import certificate_of, keys_in, put_keys
from tests.support.gate_texts import entry
from tests.support.planted import COUNTER, plant, run_in, run_traps
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.child_processes import search_path
from waterline.model.message.environment import Environment

SOURCES = Path(__file__).parents[2]
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
run("conform --kafka 4.2.0:kraft --circumstances crashes --plan --max-states 10 --results r.json")
print("states:", waterline.check(counter, threads=2).distinct)
"""
"""In one process, to import everything once."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    plant(made)
    (made / "gate.toml").write_text(entry("one") + entry("two", "records = 1\nepochs = 1\n"))
    return made


def script(folder: Path, text: str) -> Path:
    """A script that lies elsewhere."""
    made = folder.with_name("script.py")
    made.write_text(text)
    return made


def test_a_child_looks_in_the_working_folder_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", "/one", str(tmp_path), "hook", "."])
    elsewhere = search_path()
    monkeypatch.chdir(SOURCES)
    monkeypatch.setattr(sys, "path", ["", "/one"])
    among_our_own = search_path()

    assert elsewhere == ["/one", "hook", *3 * [str(tmp_path)]]
    assert among_our_own == [str(SOURCES), "/one"]


def test_no_command_runs_what_lies_in_its_folder(folder: Path) -> None:
    problem = problem_for("epoch", Environment(records=1, epochs=1, restarts=1, moves=0))
    put_keys(certificate_of(problem, folder / "certificate"), keys_in(folder / "certificate"))
    printed = run_in(folder, script(folder, COUNTER + COMMANDS))

    assert run_traps(folder) == []
    assert printed.count("as expected") == 2
    assert "CERTIFIED epoch: HOLDS" in printed
    assert "states: 4" in printed


def test_a_gate_as_a_test_runs_nothing_either(folder: Path) -> None:
    text = "import sys, pytest\nsys.exit(pytest.console_main())\n"
    printed = run_in(folder, script(folder, text), "gate.toml", "-p", "no:cacheprovider")

    assert run_traps(folder) == []
    assert "2 passed" in printed
