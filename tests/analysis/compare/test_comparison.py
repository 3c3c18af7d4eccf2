"""Where two versions part, how each ends, and what a user reads of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.recorded_traces import LOSS, entry_trace
from waterline.checker.analysis.compare.comparison import Comparison, describe_changes
from waterline.checker.user_models.start import start_of
from waterline.counterexamples import read_trace

Compare = Callable[..., Comparison]


def broken_at(comparison: Comparison) -> list[int | None]:
    return [comparison.ends.left.broken_at, comparison.ends.right.broken_at]


def test_the_loss_parts_where_one_truncates_and_the_other_asks(compare: Compare) -> None:
    comparison = compare(read_trace(LOSS), "epoch")

    assert comparison.place(comparison.parting or 0) == "step 10"
    assert [str(each) for each in comparison.differences] == [
        "r1 State: follower r0 e0 | truncating r0 e0",
        "r1 LEO: 0 | 1",
        "r1 Log: empty | m1@0",
    ]
    assert broken_at(comparison) == [12, None]


def test_c21_parts_where_the_leader_goes_by_what_its_follower_had(compare: Compare) -> None:
    comparison = compare(entry_trace("stale-remote-leo"), "kip320-with-fresh-remote-leo")

    assert comparison.parting == 13
    assert "r0 HW: 1 | 0" in map(str, comparison.differences)
    assert broken_at(comparison) == [15, None]


def test_what_only_one_of_them_keeps_a_note_of_is_a_first_difference_and_no_parting(
    compare: Compare,
) -> None:
    comparison = compare(read_trace(LOSS), "elr")

    assert (comparison.first_seen, comparison.parting) == (7, 11)
    assert list(map(str, comparison.differences_after(7))) == ["r0 State: down | down, unclean"]
    assert comparison.place(11) == "step 10"
    assert "r1 LEO: 0 | 1" in map(str, comparison.differences)


def test_a_version_beside_itself_parts_nowhere(compare: Compare) -> None:
    comparison = compare(read_trace(LOSS))

    assert (comparison.first_seen, comparison.parting) == (None, None)
    assert broken_at(comparison) == [12, 12]


def test_another_number_of_replicas_parts_at_the_start(compare: Compare) -> None:
    comparison = compare(read_trace(LOSS), replicas=3)

    assert comparison.parting == 0
    assert "r2 State: - | follower r0 e0" in map(str, comparison.differences)


def test_a_claim_that_is_not_about_the_other_version_is_told_as_that(compare: Compare) -> None:
    comparison = compare(entry_trace("consumer-misreads"), consumer=False)

    assert (comparison.ends.left.applies, comparison.ends.right.applies) == (True, False)


def test_changes_are_rules_and_settings(compare: Compare) -> None:
    comparison = compare(read_trace(LOSS), "epoch-with-fencing", acks="1")

    assert describe_changes(comparison.left.model, comparison.right.model) == (
        "truncate-to-hw | truncate-by-epoch",
        "- | fencing",
        "acks: all | 1",
    )


@pytest.mark.parametrize(("columns", "beside"), [(80, False), (160, True)])
def test_both_stand_side_by_side_where_there_is_room(
    columns: int, beside: bool, cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = cli("compare", LOSS, "--protocol", "epoch", name="waterline")
    lines = out.splitlines()

    assert code == 0
    assert any("the same" in line for line in lines) is beside
    assert "They part at step 10" in lines
    assert max(map(len, lines)) <= columns
    assert lines[-1] == "epoch: no_committed_loss holds all the way."


def test_json_has_every_pair_with_both_states(cli: Commands) -> None:
    switched = ("--with", "truncate-by-epoch", "--format", "json")
    code, out, _ = cli("compare", LOSS, *switched, name="waterline")
    found = json.loads(out)

    assert code == 0
    assert found["format"] == "waterline-comparison/1"
    assert found["right"]["protocol"] == "hw-with-truncate-by-epoch"
    assert (found["parting"], len(found["pairs"])) == (10, 12)
    parted = found["pairs"][9]
    assert (parted["step"], parted["how"]) == (10, "same")
    assert parted["states"]["differences"][1] == {
        "whose": "r1",
        "what": "LEO",
        "left": "0",
        "right": "1",
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "that is what the trace is of; name another --protocol"),
        (("--protocol", "hw"), "that is what the trace is of"),
        (("--log-size", "2"), "log-size is no option of kafka-message"),
        (("--without", "fencing"), "--without fencing: hw does not have it"),
        (("--min-insync-replicas", "3"), "min-insync-replicas is 3, more than the 2"),
        (("--environment", "published"), "--environment published is not one of message"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    arguments: tuple[str, ...], says: str, cli: Commands
) -> None:
    code, out, err = cli("compare", LOSS, *arguments, name="waterline")

    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_a_model_of_ones_own_is_compared_with_a_rule_switched(
    cli: Commands, tmp_path: Path
) -> None:
    careless = start_of("lock").replace(
        "crashes: int = 1\n", "crashes: int = 1\n    safe: bool = False\n"
    )
    careless = careless.replace(
        '[s.holder] == "crashed")', '[s.holder] == "crashed" or not s.safe)'
    )
    (tmp_path / "lock.py").write_text(careless)
    cli("--model", "lock.py", "--engine", "local", "--trace-dir", "traces")
    [trace] = (tmp_path / "traces").glob("*.json")
    other = ("--model", "lock.py", "--set", "safe=true")
    code, out, err = cli("compare", trace, *other, name="waterline")

    assert code == 0, err
    assert "Not possible: it is not enabled." in out
    assert "They part at step 2" in out
