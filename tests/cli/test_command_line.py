"""What a user meets: exit codes, one-line errors, files, the JSON object, Ctrl-C."""

from __future__ import annotations

import dataclasses
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import networkx as nx
import psutil
import pytest

from tests.support.commands import Commands
from tests.support.untrue import EVERY_HW
from waterline.checker.cli.shared.exit_codes import winning
from waterline.checker.kafka import families
from waterline.checker.kafka.families import MESSAGE
from waterline.counterexamples import read_trace

SMALL = ["--engine", "local", "--records", "1", "--epochs", "1", "--restarts", "1"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--protocol", "paxos"], "'--protocol': 'paxos' is not one of 'hw', 'epoch'"),
        ([], "--protocol is missing; it is one of hw, epoch"),
        (["--protocol", "hw", "--replicas", "0"], "'--replicas': 0 is not in the range 1<=x<=7"),
        (["--protocol", "hw", "--records", "1000"], "'--records': 1000 is not in the range"),
        (["--protocol", "hw", "--min-insync-replicas", "3"], "min-insync-replicas is 3, more than"),
        (
            ["--protocol", "hw", "--replicas", "7", "--records", "12", "--epochs", "30"],
            "replicas 7, records 12 and epochs 30 together are too large to pack",
        ),
        (
            ["--protocol", "hw", "--invariant", "good"],
            "invariant is 'good'; known: no_committed_loss",
        ),
        (["--protocol", "hw", "--memory", "much"], "'--memory': 'much' is no amount of memory"),
        (["--protocol", "hw", "--max-time", "0"], "'--max-time'"),
        (["--protocol", "hw", "--color"], "No such option"),
        (["--protocol", "hw", "--master", "foo"], "'--master': 'foo' is no Spark master"),
        (["--protocol", "hw", "--graph", "/nowhere/x"], "/nowhere/x cannot be written"),
        (["--protocol", "hw", "--symmetry"], "symmetry replicas cannot be: with --election-order"),
        (["--symmetry", "all", "--protocol", "hw"], "add --election-order any"),
        (
            ["--protocol", "hw", "--symmetry", "epochs"],
            "symmetry is 'epochs'; message has none, replicas, records, all",
        ),
    ],
)
def test_bad_usage_is_one_line_that_names_option_and_value_and_exit_2(
    arguments: list[str], says: str, cli: Commands
) -> None:
    code, out, err = cli(*arguments)

    assert code == 2
    assert out == ""
    assert says in err
    assert err.count("\n") == 1


def test_bad_usage_never_starts_spark(cli: Commands) -> None:
    def virtual_machines() -> set[int]:
        children = psutil.Process().children(recursive=True)
        return {child.pid for child in children if "java" in child.name()}

    before = virtual_machines()  # of Spark's tests, where this process has run some
    cli("--protocol", "hw", "--min-insync-replicas", "3")

    assert virtual_machines() <= before


def test_a_violation_exits_12_and_what_holds_exits_0(cli: Commands) -> None:
    violated, out, _ = cli("--protocol", "hw", "--engine", "local")
    holds, _, _ = cli("--protocol", "epoch", "--engine", "local")

    assert (violated, holds) == (12, 0)
    assert "VIOLATED after 12 steps" in out
    assert "m1 is lost." in " ".join(out.split())


def test_a_run_cut_short_exits_20_and_says_incomplete(cli: Commands) -> None:
    code, out, _ = cli("--protocol", "epoch", "--engine", "local", "--max-depth", "3")

    assert code == 20
    assert "INCOMPLETE" in out
    assert "HOLDS" not in out
    assert "stopped by max-depth 3" in out


def test_a_violation_found_before_the_cut_stays_violated(cli: Commands) -> None:
    code, out, _ = cli("--protocol", "hw", "--engine", "local", "--stop-at-first")

    assert code == 12
    assert "VIOLATED remote_leo_honest" in out


def test_exit_codes_win_in_the_documented_order() -> None:
    assert winning([0, 20, 11, 12, 1, 76]) == 76
    assert winning([0, 20, 11, 12, 1]) == 1
    assert winning([0, 20, 11, 12]) == 12
    assert winning([0, 20, 11]) == 11
    assert winning([0, 20]) == 20


def test_json_is_one_object_and_nothing_else(cli: Commands) -> None:
    code, out, _ = cli("--protocol", "hw", "--engine", "local", "--format", "json")
    report = json.loads(out)

    assert code == 12
    assert report["invariants"]["no_committed_loss"]["verdict"] == "violated"
    assert report["invariants"]["no_committed_loss"]["depth"] == 12
    assert report["invariants"]["epoch_cache_monotone"]["verdict"] == "not applicable"
    assert sum(report["levels"]) == report["distinct"] == 26749
    assert sum(report["actions"].values()) + 1 == report["generated"]
    assert report["depth"] == len(report["levels"]) - 1 == len(report["level_seconds"]) - 1
    assert {name for name, count in report["cut"].items() if count} == {
        "records",
        "epochs",
        "restarts",
        "moves",
    }
    assert report["cut"]["power-losses"] == 0
    assert report["bounds"]["restarts"] == 2
    assert report["engine"] == "local"
    assert report["seconds"] > 0


def test_traces_are_written_one_a_violated_invariant(cli: Commands, tmp_path: Path) -> None:
    cli("--protocol", "hw", "--engine", "local", "--trace-dir", tmp_path / "new")

    names = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert names == [
        f"hw-{claim}-2r2n2e.json"
        for claim in (
            "acknowledged_durable",
            "acknowledged_on_disk",
            "acknowledged_somewhere",
            "candidates_complete",
            "consistent_read",
            "leader_isr_complete",
            "log_matching",
            "no_committed_loss",
            "no_divergence_below_hw",
            "remote_leo_honest",
            "visible_hw",
        )
    ]
    assert len(read_trace(tmp_path / "new" / names[7]).steps) == 12


def test_a_small_space_is_written_as_graphml_and_a_large_one_refused(
    cli: Commands, tmp_path: Path
) -> None:
    path = tmp_path / "space.graphml"
    _, out, _ = cli("--protocol", "epoch", *SMALL, "--graph", path, "--format", "json")
    code, _, err = cli("--protocol", "epoch", *SMALL, "--graph", path, "--graph-limit", "10")
    graph = nx.read_graphml(path)

    report = json.loads(out)
    assert graph.number_of_nodes() == report["distinct"]
    assert graph.number_of_edges() == report["generated"] - 1
    assert {"depth", "state.isr"} <= graph.nodes["0"].keys()
    assert code == 2
    assert "more than 10 states, too many for a graph" in err
    assert (
        cli("--protocol", "hw", "--engine", "local", "--graph", path, "--graph-limit", 9)[0] == 12
    )


def test_only_the_invariants_asked_for_are_checked_and_counts_do_not_depend_on_it(
    cli: Commands,
) -> None:
    arguments = ["--protocol", "hw", "--engine", "local", "--format", "json"]
    some = json.loads(cli(*arguments, "--invariant", "sane")[1])
    every = json.loads(cli(*arguments)[1])

    assert list(some["invariants"]) == ["sane"]
    assert some["levels"] == every["levels"]


def test_list_shows_every_claim_with_its_sentence(cli: Commands) -> None:
    code, out, _ = cli("--list")

    assert code == 0
    assert re.search(r"^no_divergence_below_hw +message +invariant ", out, re.MULTILINE)
    assert re.search(r"^hw_monotone +message +property of steps ", out, re.MULTILINE)
    assert re.search(r"^isr_grows_back +message +must happen ", out, re.MULTILINE)
    assert re.search(r"^hw_covers_committed +message +invariant, on request ", out, re.MULTILINE)


@pytest.fixture
def claimed_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message grain with one more claim, an untrue one, that is not checked by default."""
    claim = dataclasses.replace(EVERY_HW, default=False)
    grain = dataclasses.replace(MESSAGE, properties=(*MESSAGE.properties, claim))
    monkeypatch.setitem(families.GRAINS, "message", grain)


@pytest.mark.usefixtures("claimed_on_request")
def test_a_claim_on_request_is_listed_as_one_and_its_trace_is_written_and_viewed(
    cli: Commands, tmp_path: Path
) -> None:
    _, listed, _ = cli("--list")
    ordinary, out, _ = cli("--protocol", "epoch", *SMALL)
    asked = ("--protocol", "epoch", "--invariant", "every_hw", "--trace-dir", tmp_path)
    code, report, _ = cli(*asked, *SMALL, "--format", "json")
    found = json.loads(report)["invariants"]
    (trace,) = tmp_path.iterdir()
    viewed, shown, _ = cli("view", trace, name="waterline")

    assert "property of steps, on request" in listed
    assert (ordinary, code, viewed) == (0, 12, 0)
    assert "every_hw" not in out
    assert list(found) == ["every_hw"]
    assert len(found["every_hw"]["trace"]["steps"]) == found["every_hw"]["depth"]
    assert "falls on [" in found["every_hw"]["explanation"]
    assert found["every_hw"]["explanation"] in shown


@pytest.mark.usefixtures("claimed_on_request")
def test_a_gate_asks_for_the_claims_on_request_that_it_names(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "g.toml"
    path.write_text(
        '[[expect]]\nname="n"\nprotocol="epoch"\nengine="local"\nrecords=1\nepochs=1\nrestarts=1\n'
        'verdicts={every_hw="holds", hw_monotone="holds"}\n'
    )
    code, out, _ = cli("gate", path, name="waterline")

    assert code == 3
    assert "every_hw: expected holds, got violated" in " ".join(out.split())
    assert "hw_monotone" not in out


@pytest.mark.parametrize("columns", [80, 160])
def test_no_line_of_a_report_is_wider_than_the_screen_or_ends_in_blanks(
    columns: int, cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    _, out, _ = cli("--protocol", "hw", "--engine", "local")

    assert all(len(line) <= columns and line == line.rstrip() for line in out.splitlines())


def test_layout_shows_the_bits_of_every_field_and_refuses_what_cannot_be_packed(
    cli: Commands,
) -> None:
    code, out, _ = cli("layout", "--protocol", "hw", name="waterline")
    refused, _, err = cli(
        "layout", "--protocol", "hw", "--replicas", "7", "--records", "12", name="waterline"
    )

    assert code == 0
    assert "bits in 2 words of 64 for 2 replicas, 2 records, epochs 0 to 2" in out
    assert all(name in out for name in ("remote_leo", "checkpoint", "exposed_end"))
    assert refused == 2
    assert "too large to pack" in err


def test_the_atomic_grain_has_its_own_versions_options_and_claims(
    cli: Commands, tmp_path: Path
) -> None:
    arguments = ["--grain", "atomic", "--protocol", "epoch", "--engine", "local"]
    code, out, _ = cli(*arguments, "--format", "json", "--trace-dir", tmp_path)
    report = json.loads(out)
    _, _, foreign = cli(*arguments, "--restarts", "1")
    _, _, unknown = cli("--protocol", "kip320-first-try")
    viewed, shown, _ = cli(
        "view", tmp_path / "atomic-epoch-weak_isr-2r2l2n2e.json", name="waterline"
    )

    assert code == 12
    assert report["distinct"] == 9045
    assert report["invariants"]["weak_isr"]["depth"] == 11
    assert "--restarts is no option of --grain atomic" in foreign
    assert "--protocol kip320-first-try is not one of --grain message" in unknown
    assert viewed == 0
    assert "11. " in shown


def test_view_prints_a_trace_whole_into_a_pipe(cli: Commands) -> None:
    trace = Path(__file__).parents[2] / "examples/traces/hw-no_committed_loss-2r2n2e.json"
    code, out, _ = cli("view", trace, name="waterline")

    assert code == 0
    assert "12. Learn(replica=1)" in out
    assert " ".join(out.split()).endswith("m1 is lost.")


def edited(path: Path, **changes: Any) -> Path:
    source = Path(__file__).parents[2] / "examples/traces/hw-no_committed_loss-2r2n2e.json"
    path.write_text(json.dumps(json.loads(source.read_text()) | changes))
    return path


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"version": "raft"}, "unknown protocol 'raft'"),
        ({"model": "paxos"}, "unknown model 'paxos'"),
        ({"invariant": "good"}, "invariant is 'good'; known:"),
        ({"steps": [{"action": "Explode", "arguments": {}}]}, "no action Explode"),
        ({"steps": [{"action": "Crash", "arguments": {"replica": 9}}]}, "range is 0 to 1"),
        ({"steps": [{"action": "Fence", "arguments": {"replica": 1}}]}, "is not enabled"),
        ({"steps": []}, "shows nothing"),
        ({"environment": {"replicas": -1}}, "replicas is -1"),
        ({"format": "waterline-trace/9"}, "waterline-trace/9"),
    ],
)
def test_a_trace_that_is_none_or_does_not_replay_is_one_line_and_exit_2(
    changes: dict[str, Any], says: str, cli: Commands, tmp_path: Path
) -> None:
    code, out, err = cli("view", edited(tmp_path / "t.json", **changes), name="waterline")

    assert code == 2
    assert out == ""
    assert says in err
    assert err.count("\n") == 1


GATE = """
[[expect]]
name = "epoch keeps it"
protocol = "epoch"
engine = "local"
verdicts = {{ no_committed_loss = "{verdict}" }}
{more}
"""


def gate_file(path: Path, verdict: str = "holds", more: str = "") -> Path:
    path.write_text(GATE.format(verdict=verdict, more=more))
    return path


def test_a_gate_passes_only_when_every_verdict_is_the_one_expected(
    cli: Commands, tmp_path: Path
) -> None:
    junit = tmp_path / "junit.xml"
    met, _, _ = cli("gate", gate_file(tmp_path / "g.toml"), name="waterline")
    missed, out, _ = cli(
        "gate",
        gate_file(tmp_path / "g.toml", "violated"),
        "--junit",
        junit,
        name="waterline",
    )

    suite = ET.parse(junit).getroot()
    assert (met, missed) == (0, 3)
    assert "expected violated, got holds" in " ".join(out.split())
    assert suite.attrib["failures"] == "1"
    assert suite.find("testcase/failure") is not None


@pytest.mark.parametrize(
    "more",
    ["max-states = 5", "max-time = 1e-6"],
)
def test_a_gate_does_not_take_incomplete_for_holds(
    more: str, cli: Commands, tmp_path: Path
) -> None:
    code, out, _ = cli("gate", gate_file(tmp_path / "g.toml", more=more), name="waterline")

    assert code == 3
    assert "got incomplete" in " ".join(out.split())


def test_a_gate_does_not_take_not_applicable_for_holds(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "g.toml"
    path.write_text(
        '[[expect]]\nname="n"\nprotocol="hw"\nengine="local"\nrestarts=0\n'
        'verdicts={epoch_cache_monotone="holds"}\n'
    )
    code, out, _ = cli("gate", path, name="waterline")

    assert code == 3
    assert "got not applicable" in " ".join(out.split())


def test_a_gate_fails_when_something_that_must_happen_never_does(
    cli: Commands, tmp_path: Path
) -> None:
    """Without a restart no leader fails over, and that nothing is lost proves nothing."""
    code, out, _ = cli(
        "gate", gate_file(tmp_path / "g.toml", more="restarts = 0"), name="waterline"
    )

    assert code == 3
    assert "leader_fails_over was never reached" in " ".join(out.split())


def test_a_gate_fails_on_a_violation_that_nobody_named(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "g.toml"
    path.write_text(
        '[[expect]]\nname="n"\nprotocol="hw"\nengine="local"\nverdicts={sane="holds"}\n'
    )
    code, out, _ = cli("gate", path, name="waterline")

    assert code == 3
    assert "violated after 12 steps, nothing expected" in " ".join(out.split())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "at least one"),
        ("[[expect]]\n", "g.toml:1:1: the entry has no name"),
        ("[[expect]]\nname='n'\n", "has no protocol"),
        ("[[expect]]\nname='n'\nprotocol='hw'\n", "has no verdicts"),
        ("[[expect]]\nname='n'\nprotocol='hw'\nverdicts={safe='holds'}", "unknown claim"),
        ("[[expect]]\nname='n'\nprotocol='hw'\nverdicts={sane='yes'}", "sane is 'yes'"),
        (
            "[[expect]]\nname='n'\nprotocol='hw'\ntypo=1\nverdicts={sane='holds'}",
            "g.toml:4:1: n: unknown key 'typo'",
        ),
        (
            "[[expect]]\nname='n'\nprotocol='hw'\nreplicas='2'\nverdicts={sane='holds'}",
            "it must be a whole number",
        ),
        ("[[expect]]\nname='n'\nprotocol='hw'\nengine='tlc'\nverdicts={sane='holds'}", "'tlc'"),
        ("nonsense", "is no TOML"),
    ],
)
def test_a_gate_file_that_cannot_be_used_is_one_line_and_exit_2(
    text: str, says: str, cli: Commands, tmp_path: Path
) -> None:
    path = tmp_path / "g.toml"
    path.write_text(text)
    code, out, err = cli("gate", path, name="waterline")

    assert code == 2
    assert out == ""
    assert says in err
    assert err.count("\n") == 1
