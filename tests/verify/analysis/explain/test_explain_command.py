"""`waterline explain` and `check --explain` of Kafka's losses, with all repairs."""

from __future__ import annotations

import json

from lab.documents import catalogue, explanations
from tests.support.commands import Commands
from tests.support.recorded_traces import TRACES
from waterline.checker.kafka.scenarios.catalogue import find_scenario


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


def test_the_record_of_an_entry_is_what_explaining_comes_to() -> None:
    recorded = catalogue.read()["acks-1"]["explained"]

    assert explanations.explanation(find_scenario("acks-1")) == recorded
