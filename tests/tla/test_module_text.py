"""The text of a module is the one that was read and found right."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import Commands
from tests.support.own import own_problem
from waterline.checker.tla.kafka.module import export

MODELS = Path(__file__).parent / "models"


def test_a_module_is_as_it_was_read() -> None:
    module = export(own_problem(MODELS / "lock.py"))

    assert module.text == (MODELS / "lock.tla").read_text()
    assert module.configuration == (MODELS / "lock.cfg").read_text()
    assert module.happening == (MODELS / "lock_happens.cfg").read_text()


def test_a_strongly_fair_action_has_sf_and_counts_as_enabled_where_a_bound_cuts_it() -> None:
    endless = export(own_problem(MODELS / "semaphore.py"))
    bounded = export(own_problem(MODELS / "semaphore.py", rounds=2))

    assert "/\\ \\A process \\in Process : SF_vars(Enter(process))" in endless.text
    assert "/\\ \\A process \\in Process : WF_vars(Leave(process))" in endless.text
    cut = "[]<>(ENABLED <<EnterCounted(process)>>_vars \\/ EnterCountedIsCut(process))"
    assert f"{cut} => []<><<EnterCounted(process)>>_vars" in bounded.text


def test_the_command_writes_module_and_configurations(tmp_path: Path, run: Commands) -> None:
    model = MODELS / "lock.py"
    code, _, _ = run("export", "--model", model, "--to", "tla", "--out", tmp_path, name="waterline")

    assert code == 0
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["lock.cfg", "lock.tla", "lock_happens.cfg"]
    assert (tmp_path / "lock.tla").read_text() == (MODELS / "lock.tla").read_text()


def test_a_bound_is_a_constant_of_the_configuration(tmp_path: Path, run: Commands) -> None:
    options = ("--set", "clients=3", "--set", "fair_turns=false", "--out", tmp_path)
    code, _, _ = run(
        "export", "--model", MODELS / "lock.py", "--to", "tla", *options, name="waterline"
    )

    assert code == 0
    text = (tmp_path / "lock.cfg").read_text()
    assert "clients = 3" in text
    assert "fair_turns = FALSE" in text
