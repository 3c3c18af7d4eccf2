"""`waterline explain` and `check --explain`, as a user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.documents import catalogue
from tests.support.commands import Commands
from tests.support.recorded_traces import LOSS
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE
from waterline.checker.user_models.start import start_of


def test_the_chain_of_the_loss_is_told_in_kafkas_words(cli: Commands) -> None:
    code, out, _ = cli("explain", LOSS, "--chain", name="waterline")

    assert code == 0
    assert out.startswith("hw: no_committed_loss\nreplicas 2, records 2, epochs 2, restarts 2,")
    assert "3 of the 12 steps must come from outside (Produce, Crash)" in out
    assert "7. The process of leader r0 crashes" in out
    assert "- after step 7 and up to step 9: The controller notices that r0 is down" in out
    assert "Which single change" not in out


def test_a_trace_of_kafkas_is_not_explained_by_a_model_of_ones_own(cli: Commands) -> None:
    ours = Path(__file__).parents[3] / "examples" / "die_hard.py"
    code, _, err = cli("explain", LOSS, "--model", ours, name="waterline")

    assert code == 2
    assert "it is of kafka-message, and --model names die_hard.py; leave --model out" in err


def test_what_was_not_found_out_in_time_has_an_exit_code_of_its_own(cli: Commands) -> None:
    code, out, _ = cli("explain", LOSS, "--chain", "--max-states", 2, name="waterline")

    assert code == 20
    assert "Not known whether it happens" in out


def test_a_file_that_is_no_trace_is_one_line(cli: Commands, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    code, out, err = cli("explain", "no.json", name="waterline")

    assert (code, out) == (2, "")
    assert err.count("\n") == 1


@pytest.fixture
def careless(tmp_path: Path) -> None:
    """A lock of one's own that breaks, unless it is safe."""
    text = start_of("lock").replace(
        "crashes: int = 1\n", "crashes: int = 1\n    safe: bool = False\n"
    )
    text = text.replace('[s.holder] == "crashed")', '[s.holder] == "crashed" or not s.safe)')
    (tmp_path / "lock.py").write_text(text)


@pytest.mark.usefixtures("careless")
def test_check_explains_what_it_found(cli: Commands) -> None:
    code, out, err = cli("--model", "lock.py", "--engine", "local", "--explain")

    assert code == 12, err
    assert out.index("VIOLATED") < out.index("3 of the 3 steps are needed")
    assert "--set safe=true  HOLDS in " in out


@pytest.mark.usefixtures("careless")
def test_a_model_of_ones_own_is_explained(cli: Commands, tmp_path: Path) -> None:
    cli("--model", "lock.py", "--engine", "local", "--trace-dir", "traces")
    [trace] = (tmp_path / "traces").glob("*.json")
    code, out, err = cli("explain", trace, "--model", "lock.py", name="waterline")

    assert code == 0, err
    assert "3 of the 3 steps are needed" in out
    assert "--set safe=true  HOLDS in " in out


def test_every_entry_of_the_catalogue_is_explained() -> None:
    recorded = catalogue.read()

    assert [scenario.name for scenario in CATALOGUE] == [*recorded]
    assert [name for name, entry in recorded.items() if len(entry.get("explained", ())) == 3] == [
        scenario.name for scenario in catalogue.scenarios_with_trace()
    ]
