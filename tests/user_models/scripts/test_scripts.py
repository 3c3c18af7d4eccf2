"""A script is a test of a story: every step, and everything that it expects."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.walks import LOSS, SCRIPTS, came, walk_of
from waterline.checker.user_models.scripts.script import (
    BYTES_MAX,
    BadScript,
    parse,
    read_script,
)
from waterline.counterexamples import read_trace

ALL = sorted(path.name for path in SCRIPTS.glob("*.steps"))
STORY = "\n".join(LOSS)


@pytest.mark.parametrize("name", ALL)
def test_every_script_of_the_examples_comes_out_as_it_expects(name: str, cli: Commands) -> None:
    code, out, err = cli("run", "--script", SCRIPTS / name, name="waterline")

    assert (code, err) == (0, "")
    assert "expectations met." in out


@pytest.mark.parametrize("name", ["kip-101-loss", "kip-101-divergence"])
def test_the_repaired_story_is_of_the_same_choices(name: str) -> None:
    repair = "OffsetForLeaderEpoch"
    steps = [
        [line.text for line in read_script(SCRIPTS / file).lines if "expect" not in line.text]
        for file in (f"{name}.steps", f"{name}-repaired.steps")
    ]

    assert [step for step in steps[1] if not step.startswith(repair)] == steps[0]
    assert len(steps[1]) == len(steps[0]) + 1


def test_the_nine_rows_are_told_in_their_order() -> None:
    text = (SCRIPTS / "two-round-trips.steps").read_text()
    row = r"# (\d)\. [A-Za-z ]+?  +(\d) (\d) (\d)   (\d) (\d)"
    rows = [tuple(map(int, found)) for found in re.findall(row, text)]

    assert [number for number, *_ in rows] == list(range(1, 10))
    assert [values for _, *values in rows] == [
        [1, 0, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [1, 0, 0, 0, 0],
        [1, 0, 0, 1, 0],
        [1, 0, 0, 1, 0],
        [1, 1, 0, 1, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
    ]


@pytest.mark.parametrize(
    ("expected", "instead"),
    [
        ("r1 LEO 0 HW 0", None),
        ("r1 State leader e1, LEO 0", None),
        ("r0 State down HW - In flight -", None),
        ("r0 LEO 2 HW -", "r0 LEO is 1"),
        ("r0 LEO 2 HW 1", "r0 LEO is 1, HW is -"),
        ("Committed m1", None),
        ("Acknowledged none", "Acknowledged is m1"),
        ("Controller leader r1, epoch 1, ISR {r1}, fenced {r0}", None),
        ("broken no_committed_loss, visible_hw", None),
        ("broken sane", "sane holds; broken: no_committed_loss"),
        ("holds sane hw_monotone", None),
        ("holds no_committed_loss", "no_committed_loss is broken: m1 was committed"),
        ("holds", "no_committed_loss is broken"),
        ("enabled Restart r0", None),
        ("enabled Crash r0", "Crash(replica=0) is not enabled"),
        ("not enabled Crash r0", None),
        ("not enabled Restart r0", "Restart(replica=0) is enabled"),
        ("where s.leader == r1 and s.leo[r1] == 0", None),
        ("where s.leo[0] == 0", "it is not true: s.leo[0] is 1"),
        ("not where s.leo[0] == 1", "it is true: s.leo[0] is 1"),
    ],
)
def test_an_expectation_is_met_or_says_what_is_instead(expected: str, instead: str | None) -> None:
    last = came(f"{STORY}\nexpect {expected}", walk_of())[-1]

    if instead is None:
        assert last.instead is None
    else:
        assert last.instead is not None
        assert last.instead.startswith(instead)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Produce r0\nFence r0", ":2: Fence(replica=0) is not enabled; enabled: "),
        ("\n# remark\nProdce r0", ":3: there is no action Prodce, did you mean Produce; enabled: "),
        ("expect r1 LO 1", ":1: expect r1 LO: did you mean LEO?"),
        ("expect r1", ":1: expect r1: say what of it"),
        ("expect r1 LEO HW 1", ":1: expect r1 LEO: the value is missing"),
        ("expect r9 LEO 1", ":1: expect r9: there are r0, r1, Controller"),
        ("expect broken san", ":1: no claim san is checked here; did you mean sane?"),
        ("expect broken", ":1: expect broken: name the claims"),
        ("expect not broken sane", ":1: expect not broken: write not enabled"),
        ("expect enabled Foo r1", ":1: there is no action Foo"),
        ("expect not enabled Foo r1", ":1: there is no action Foo"),
        ("expect where s.leo", ":1: the condition, column 3: leo has more elements than one"),
        ("Produce r0\nrecords: 2", ":2: records: stands before the first step"),
        ("x" * 501, ":1: the line is longer than 500 characters"),
        ("Produce r0\n" * 10_001, " has 10,001 lines; at most 10,000 are read"),
    ],
)
def test_a_line_that_cannot_be_done_is_named(text: str, complaint: str) -> None:
    with pytest.raises(BadScript) as refused:
        came(text, walk_of())

    assert str(refused.value).startswith(f"story.steps{complaint}")


def test_a_file_that_is_no_script_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.steps"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(BadScript, match="not UTF-8"):
        read_script(path)
    path.write_bytes(b"#" * (BYTES_MAX + 1))
    with pytest.raises(BadScript, match="larger than"):
        read_script(path)


def test_remarks_and_headers_are_taken_apart() -> None:
    script = parse("# A story\nprotocol: hw  # the first\n\nProduce r0 # one\n", "x")

    assert script.title == "A story"
    assert [(h.number, h.name, h.value) for h in script.headers] == [(2, "protocol", "hw")]
    assert [(line.number, line.text) for line in script.lines] == [(4, "Produce r0")]


def test_something_else_than_expected_is_exit_code_3(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "x.steps"
    path.write_text("protocol: hw\nProduce r0\nexpect r0 LEO 2\nSendFetch r1\nexpect r0 LEO 1\n")
    code, out, err = cli("run", "--script", path, name="waterline")

    assert code == 3
    assert "NOT SO expect r0 LEO 2: r0 LEO is 1" in out
    assert out.endswith("2 steps; 1 of 2 expectations not met.\n")
    assert err == f"{path}:3: expect r0 LEO 2: r0 LEO is 1\n"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("protocl: hw", ":1: no option is called protocl; did you mean protocol?"),
        ("protocol: foo", ":1: Invalid value for '--protocol': 'foo' is not one of"),
        ("records:", ":1: records has no value"),
        ("consumer: maybe", ":1: consumer is 'maybe'; write on or off"),
        ("model: x.py", ":1: model: give it on the command line"),
        ("save: x.json", ":1: no option is called save"),
        ("protocol: hw\ninitial: 1", ":2: initial is one of 0 to 0"),
        ("protocol: hw\n\x1b[2J", ":2: `\\x1b[2J` is no step"),
    ],
)
def test_a_header_that_means_nothing_is_named(
    text: str, complaint: str, cli: Commands, tmp_path: Path
) -> None:
    path = tmp_path / "x.steps"
    path.write_text(text)
    code, _, err = cli("run", "--script", path, name="waterline")

    assert code == 2
    assert err.startswith(f"error: {path}{complaint}")


def test_the_command_line_goes_before_a_header(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "x.steps"
    path.write_text("protocol: hw\nconsumer: on\nwith: fencing, truncate-every-epoch\nProduce\n")
    whole = cli("run", "--script", path, name="waterline")
    other = cli("run", "--script", path, "--protocol", "epoch", "--records", "3", name="waterline")

    assert whole[1].startswith("hw +fencing +truncate-every-epoch")
    assert other[1].startswith("epoch +fencing +truncate-every-epoch")
    assert "records 3" in other[1]
    assert "consumer on" in whole[1]
    assert (whole[0], other[0]) == (0, 0)


def test_the_steps_of_a_script_are_saved(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "loss.json"
    script = SCRIPTS / "kip-101-loss.steps"
    code, _, err = cli("run", "--script", script, "--save", path, name="waterline")

    assert (code, err) == (0, f"wrote {path}: 17 steps, against no_committed_loss\n")
    assert len(read_trace(path).steps) == 17


def test_without_a_script_the_first_steps_are_listed(cli: Commands) -> None:
    code, out, err = cli("run", "--protocol", "hw", "--records", 1, name="waterline")
    headline = "hw (Kafka 0.10): 2 replicas, 1 record, epochs 0 to 2, up to 2 crashes"

    assert (code, err) == (0, "")
    assert out.startswith(f"{headline}\nreplicas 2, records 1, ")
    assert "\nInitial state\n" in out
    assert "\nEnabled\n" in out
    assert "SendFetch(follower=1)" in out
    assert "! Crash(replica=0)" in out


def test_the_steps_that_can_follow_a_script_are_listed(cli: Commands, tmp_path: Path) -> None:
    script = tmp_path / "begun.steps"
    script.write_text("protocol: hw\nrecords: 1\nProduce r0\n")
    code, out, _ = cli("run", "--script", script, name="waterline")
    listed = out.split("\nEnabled\n")[1]

    assert code == 0
    assert "ShrinkIsr(leader=0, follower=1)" in listed
    assert "Produce" not in listed
    assert "Cut by a bound: records: 1" in listed
    assert listed.endswith("\n1 step.\n")
