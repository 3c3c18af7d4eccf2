"""After verdicts that hold: which bound to raise first."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import Commands
from waterline.checker.checking.run import run
from waterline.checker.cli.bound_advice import bound_to_raise
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.search import Budgets
from waterline.model.message.environment import Environment


def advised(environment: Environment, *, max_depth: int | None = None) -> str | None:
    problem = problem_for("epoch", environment)
    choice = EngineChoice(name="local", threads=1)
    return bound_to_raise(run(problem, choice, budgets=Budgets(max_depth=max_depth)).result)


def test_epochs_are_raised_before_records() -> None:
    assert advised(Environment(epochs=3)) == "--epochs 4"


def test_where_no_epoch_is_cut_records_are_what_is_left() -> None:
    assert advised(Environment(epochs=3, restarts=0)) == "--records 3"


def test_a_run_that_was_stopped_has_bounds_enough() -> None:
    assert advised(Environment(epochs=3), max_depth=3) is None


def test_check_says_what_to_raise_first(cli: Commands) -> None:
    _, out, _ = cli("--protocol", "epoch", "--engine", "local", "--epochs", "3")
    line = " ".join(out.split())

    assert "HOLDS means up to epochs=3 (" in line


def test_a_gate_names_the_entries_that_a_bound_cuts(cli: Commands, tmp_path: Path) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text(
        '[[expect]]\nname = "two crashes"\nprotocol = "epoch"\nengine = "local"\nepochs = 3\n'
        'verdicts = { no_committed_loss = "holds" }\n'
    )
    code, out, _ = cli("gate", gate, name="waterline")

    assert code == 0
    assert "Cut by epochs, to be raised first: two crashes." in out
