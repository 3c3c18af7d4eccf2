"""What takes a model of Kafka's takes one's own: traces, runs, tables, graphs, gates."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.own import EXAMPLES

JUGS = ("--model", "die_hard.py")
LOCAL = ("--engine", "local")
COMMIT = ("--model", "two_phase_commit.py", *LOCAL)


@pytest.fixture(autouse=True)
def examples(cli: Commands) -> None:
    """The examples lie in the folder that commands run in."""
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, path.name)


def change(file: str) -> None:
    """A remark more, which is another content."""
    Path(file).write_text(Path(file).read_text() + "# Read once more.\n")


def test_the_report_names_file_bounds_and_claims(cli: Commands) -> None:
    code, out, _ = cli(*COMMIT, "--set", "rms=2")

    assert code == 0
    assert out.startswith("two_phase_commit in two_phase_commit.py\nrms 2\n")
    assert "commits            first in step" in out
    assert "Distinct states  56\n" in out
    assert out.endswith(
        "two_phase_commit: HOLDS consistent, decision_is_sent, decides_once; 56 states in\n"
        "all, within rms 2 and the budgets above.\n"
    )


def test_a_counterexample_reads_in_the_words_of_the_file(cli: Commands) -> None:
    code, out, _ = cli(*JUGS, *LOCAL)

    assert code == 12
    assert "VIOLATED not_yet_measured: The big jug does not hold the amount that is wanted:" in out
    assert "1.  fill_big      The big jug is filled: in_big 0 -> 5.\n" in out
    assert "After step 6   * changed in this step\nin_small: 3*   in_big: 4*\n" in out


def test_a_trace_is_viewed_with_its_file_and_only_then(cli: Commands) -> None:
    cli(*JUGS, *LOCAL, "--trace-dir", "traces")
    trace = "traces/die_hard-not_yet_measured-small3-big5-wanted4.json"
    alone = cli("view", trace, name="waterline")
    other = cli("view", trace, "--model", "two_phase_commit.py", name="waterline")
    code, out, _ = cli("view", trace, *JUGS, name="waterline")
    change("die_hard.py")
    changed = cli("view", trace, *JUGS, name="waterline")

    assert alone[0] == other[0] == changed[0] == 2
    assert "is code and not loaded unasked; give the file, with --model die_hard.py" in alone[2]
    assert "it is of die_hard.py, and --model names two_phase_commit.py; give the file" in other[2]
    assert "die_hard.py has another content" in changed[2]
    assert code == 0
    assert "6. big_to_small()" in out


def test_a_run_is_resumed_with_its_file_unchanged_and_only_then(cli: Commands) -> None:
    kept = (*COMMIT, "--set", "rms=4", "--run-dir", "kept", "--max-depth", 5)
    assert cli(*kept)[0] == 20
    alone = cli("--resume", "kept", *LOCAL)
    differs = cli(*COMMIT, "--set", "rms=3", "--resume", "kept")
    before = Path("two_phase_commit.py").read_text()
    change("two_phase_commit.py")
    changed = cli(*COMMIT, "--resume", "kept")
    Path("two_phase_commit.py").write_text(before)
    code, out, _ = cli(*COMMIT, "--resume", "kept", "--set", "rms=4")

    assert alone[0] == differs[0] == changed[0] == 2
    assert "give the file, with --model two_phase_commit.py" in alone[2]
    assert "--rms 3 is not what kept was begun with: 4" in differs[2]
    assert "kept: two_phase_commit.py has another content" in changed[2]
    assert code == 0
    assert "Distinct states  1,568\n" in out


def test_states_are_written_with_their_file_and_only_then(cli: Commands) -> None:
    cli(*COMMIT, "--run-dir", "kept")
    alone = cli("states", "kept", "--out", "no", name="waterline")
    given = ("--model", "two_phase_commit.py")
    code, out, _ = cli("states", "kept", "--out", "tables", "--steps", *given, name="waterline")
    described = json.loads(Path("tables/export.json").read_text())

    assert alone[0] == 2
    assert not Path("no").exists()
    assert code == 0
    assert "wrote 288 states, all of a complete run" in out
    assert described["model"] == "two_phase_commit.py"
    assert described["steps"] == 1_145


def test_a_graph_has_every_state(cli: Commands) -> None:
    code, _, _ = cli(*COMMIT, "--graph", "graph.xml")

    assert code == 0
    assert Path("graph.xml").read_text().count("<node ") == 288


def test_json_says_which_content_was_checked(cli: Commands) -> None:
    code, out, _ = cli(*COMMIT, "--symmetry", "--format", "json")
    found = json.loads(out)

    assert code == 0
    assert found["distinct"] == 80
    assert found["symmetry"] == "rm"
    assert found["bounds"] == {"rms": 3, "sha256": found["bounds"]["sha256"]}
    assert len(found["bounds"]["sha256"]) == 16


def test_a_rule_is_followed_down_to_what_it_is_compiled_to(cli: Commands) -> None:
    code, out, _ = cli("kernel", *COMMIT[:2], "--rule", "tm_commit", name="waterline")
    laid_out, table, _ = cli("layout", *COMMIT[:2], name="waterline")

    assert code == laid_out == 0
    assert "; two_phase_commit.py:55" in out
    assert "s.commit_sent = True" in out
    assert "16 bits in 1 words of 64 for rms 3" in table


GATE = """
[[expect]]
name = "jugs"
model = "die_hard.py"
engine = "local"
big = {big}
verdicts = {{ not_yet_measured = "violated" }}
"""


def test_a_gate_runs_a_model_only_where_that_is_allowed(cli: Commands) -> None:
    Path("gate.toml").write_text(GATE.format(big=5))
    refused, _, err = cli("gate", "gate.toml", name="waterline")
    allowed, out, _ = cli("gate", "gate.toml", "--allow-models", name="waterline")
    Path("gate.toml").write_text(GATE.format(big=3))
    met, _, _ = cli("gate", "gate.toml", "--allow-models", name="waterline")

    assert refused == 2
    assert "gate.toml:4:1: jugs: it names the model 'die_hard.py', which is code" in err
    assert allowed == 0
    assert "as expected" in out
    assert met == 3


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("big = 5", 'big = "5"', "big is '5'; it must be a whole number"),
        ("big = 5", "huge = 5", "die_hard has no bound 'huge'"),
        ('"die_hard.py"', "7", "model is 7; it must be text"),
        ('"die_hard.py"', '"no.py"', "no.py"),
    ],
)
def test_a_gate_names_what_is_wrong_with_an_entry(
    right: str, wrong: str, says: str, cli: Commands
) -> None:
    Path("gate.toml").write_text(GATE.format(big=5).replace(right, wrong))
    code, _, err = cli("gate", "gate.toml", "--allow-models", name="waterline")

    assert code == 2
    assert "gate.toml:" in err
    assert ": jugs: " in err
    assert says in err


def test_a_new_model_runs_and_nothing_is_overwritten(cli: Commands) -> None:
    code, _, err = cli("new", "lease", name="waterline")
    checked, out, _ = cli("--model", "lease.py", *LOCAL, "--symmetry")
    again, _, refused = cli("new", "lease", name="waterline")
    named, _, _ = cli("new", "my-lease", name="waterline")

    assert (code, checked, again, named) == (0, 0, 2, 2)
    assert "wrote lease.py" in err
    assert "one_works   HOLDS" in out
    assert "NEVER" not in out
    assert "lease.py is there already" in refused


def test_what_the_remarks_of_a_new_model_say_comes_true(cli: Commands) -> None:
    cli("new", "lease", name="waterline")
    file = Path("lease.py")
    second = '    when(s.client_state[s.holder] == "crashed")\n'
    assert second in file.read_text()
    file.write_text(file.read_text().replace(second, ""))
    code, out, _ = cli("--model", "lease.py", *LOCAL)

    assert code == 12
    assert "VIOLATED one_works: No two clients work at a time." in out


def test_a_counterexample_says_for_which_names_the_claim_is_false(cli: Commands) -> None:
    two = "def no_two_idle(s):\n    return not any(s.client_state[a] == s.client_state[b] == "
    two += '"idle" for a in range(s.clients) for b in range(a))\n'
    cli("new", "lease", name="waterline")
    file = Path("lease.py")
    file.write_text(f"{file.read_text().replace('[one_works]', '[no_two_idle]')}\n\n{two}")
    code, out, _ = cli("--model", "lease.py", *LOCAL)

    assert code == 12
    assert "\nno_two_idle is False here, for a = client1, b = 0.\n" in out
