"""`waterline explain` and `check --explain`, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

from docs.make import explanations as document_explanations
from tests.support.commands import Commands
from tests.support.recorded_traces import LOSS, TRACES
from waterline.checker.cli.scenarios import run as scenarios_run
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.checker.kafka.scenarios.document import EXPLAINED, explained_part, run_part
from waterline.checker.user_models.start import start_of

DOCUMENT = Path(__file__).parents[3] / "docs" / "scenarios.md"


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


def test_json_has_all_that_was_found_out(cli: Commands) -> None:
    trace = TRACES / "scenarios" / "acks-1.json"
    code, out, _ = cli("explain", trace, "--format", "json", name="waterline")
    found = json.loads(out)

    assert code == 0
    assert found["format"] == "waterline-explanation/1"
    assert [cause["step"] for cause in found["chain"]["causes"]] == [1, 2]
    assert [t["change"] for t in found["repairs"]["tried"] if t["repairs"]] == [
        "--restarts 0",
        "--acks 0",
        "--acks all",
    ]


def test_what_was_not_found_out_in_time_has_an_exit_code_of_its_own(cli: Commands) -> None:
    code, out, _ = cli("explain", LOSS, "--chain", "--max-states", 2, name="waterline")

    assert code == 20
    assert "Not known whether it happens" in out


def test_a_file_that_is_no_trace_is_one_line(cli: Commands, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    code, out, err = cli("explain", "no.json", name="waterline")

    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_check_explains_what_it_found(cli: Commands) -> None:
    small = ("--protocol", "hw", "--engine", "local", "--scenario", "c12", "--threads", "1")
    code, out, _ = cli(*small, "--explain")

    assert code == 12
    assert out.index("VIOLATED acknowledged_durable") < out.index("steps must come from outside")
    assert "--acks all" in out


def test_a_repair_is_judged_without_bounds_where_the_loss_was_found_without(cli: Commands) -> None:
    asked = ("--invariant", "no_committed_loss", "--records", 1, "--unbounded", "--explain")
    code, out, _ = cli("--protocol", "hw", *asked, "--engine", "local")

    assert code == 12
    assert "3 of the 12 steps must come from outside (Produce, Crash)" in out
    assert "--with truncate-by-epoch       HOLDS in 3,990 states" in out


def test_a_model_of_ones_own_is_explained(cli: Commands, tmp_path: Path) -> None:
    careless = start_of("lock").replace(
        "crashes: int = 1\n", "crashes: int = 1\n    safe: bool = False\n"
    )
    careless = careless.replace(
        '[s.holder] == "crashed")', '[s.holder] == "crashed" or not s.safe)'
    )
    (tmp_path / "lock.py").write_text(careless)
    cli("--model", "lock.py", "--engine", "local", "--trace-dir", "traces")
    [trace] = (tmp_path / "traces").glob("*.json")
    code, out, err = cli("explain", trace, "--model", "lock.py", name="waterline")

    assert code == 0, err
    assert "3 of the 3 steps are needed" in out
    assert "--set safe=true  HOLDS in " in out


def test_the_table_of_the_catalogue_has_every_entry() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    table = text.partition("| entry | version | takes |")[2]

    assert [line.split("]")[0] for line in table.splitlines() if line.startswith("| [")] == [
        f"| [{scenario.number}" for scenario in document_explanations.explained()
    ]


def test_a_line_of_the_table_is_what_explaining_comes_to() -> None:
    line = document_explanations.row(find_scenario("acks-1"))

    assert line in DOCUMENT.read_text(encoding="utf-8")


def test_a_run_of_the_catalogue_keeps_the_table(tmp_path: Path) -> None:
    path = tmp_path / "scenarios.md"
    path.write_text(f"of a run\n{EXPLAINED}of explaining\n", encoding="utf-8")
    whole = path.read_text(encoding="utf-8")

    assert scenarios_run.kept_of(path) == f"{EXPLAINED}of explaining\n"
    assert scenarios_run.kept_of(tmp_path / "new.md") == ""
    assert (run_part(whole), explained_part("of a run\n")) == ("of a run\n", "")
