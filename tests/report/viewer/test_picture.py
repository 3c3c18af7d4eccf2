"""What the picture of a cluster shows: logs side by side, marks, arrows."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.geometry import Size

from tests.support.stories import C21, KIP_279, LOSS, TRACES, story, story_of_trace
from tests.support.viewing import screen_of
from waterline.checker.report.viewer.lanes import picture, ruler
from waterline.checker.report.viewer.look import GONE_MARK
from waterline.counterexamples import Trace, TraceStep


def drawn(path: Path, state: int, width: int = 51, height: int = 18) -> list[str]:
    return [line.plain.rstrip() for line in picture(story(path), state, Size(width, height))]


def test_a_lane_has_role_log_and_marks() -> None:
    assert drawn(LOSS, 2) == [
        "offset 0          1",
        "r0  leader e0           checkpoint 0             ▲",
        "    │ m1@0*    │                                 │",
        "    ▲HW        ▲LEO*                             │",
        "    remote LEO r1:0  ISR {r0,r1}  ack due m1*    │",
        "r1  follower r0 e0      checkpoint 0            ─╯",
        "    │",
        "    ▲HW=LEO",
        "",
        "",
        "Controller    leader r0  epoch 0  ISR {r0,r1}",
        "In flight     r1 ─> r0  fetch from 0",
        "Produced      m1@0*",
        "Faults        0 crashes, 0 moves",
    ]


def test_a_lost_record_is_marked_from_when_it_is_committed_on() -> None:
    marked = [any("!m1@0" in line for line in drawn(LOSS, state)) for state in range(13)]

    assert marked == [False] * 6 + [True] * 7


def test_the_lane_where_a_record_vanished_shows_that_it_did() -> None:
    before, after, end = (drawn(LOSS, state) for state in (9, 10, 12))

    assert not any(GONE_MARK in line for line in before)
    assert after[6] == f"    │{GONE_MARK}m1@0*"
    assert end[6] == f"    │{GONE_MARK}m1@0  <- breaks here"


def test_diverging_logs_are_aligned_and_marked_where_they_differ() -> None:
    r0, r1 = (drawn(KIP_279, 12)[row] for row in (2, 6))

    assert r0 == "    │!m1@0     │ m2@2     │  <- breaks here"
    assert r1 == "    │≠m3@1     │ m2@2*    │  <- breaks here"


def test_a_remote_leo_that_is_not_true_is_marked() -> None:
    assert "r1:1≠" not in "\n".join(drawn(C21, 9))
    assert "remote LEO r1:1≠ r2:0" in "\n".join(drawn(C21, 13))


def test_an_answer_is_an_arrow_from_the_leader() -> None:
    lines = drawn(LOSS, 3)

    assert lines[1].endswith("─╮")
    assert lines[2].endswith("┆")
    assert lines[5].endswith("▼")
    assert "In flight     r0 ┄> r1  m1, HW 0" in lines


def test_a_leader_that_is_none_any_more_is_said_to_be_deposed() -> None:
    assert any(line.startswith("r2  leader e1 (deposed)") for line in drawn(C21, 12)) is False
    zombie = drawn(TRACES / "scenarios" / "zombie-follower.json", 13)

    assert any(line.startswith("r2  leader e1 (deposed)") for line in zombie)


@pytest.mark.parametrize("size", [(120, 40), (200, 50)])
@pytest.mark.parametrize("path", [LOSS, C21, KIP_279], ids=["loss", "c21", "kip-279"])
def test_the_list_shows_every_step_in_full(path: Path, size: tuple[int, int]) -> None:
    told = story(path)
    lines = screen_of(path, size=size).splitlines()
    words = " ".join(" ".join(line.partition("│")[0].split()) for line in lines)

    assert "…" not in words
    for step in range(1, told.steps + 1):
        assert f" {told.sentence(step)} " in f"{words} ", step


@pytest.mark.parametrize("width", [20, 40, 51, 100])
@pytest.mark.parametrize("path", [LOSS, C21], ids=["loss", "c21"])
def test_no_line_is_wider_than_the_screen(path: Path, width: int) -> None:
    for state in range(story(path).steps + 1):
        assert max(map(len, drawn(path, state, width))) <= width


def test_logs_have_frames_where_there_is_room() -> None:
    lines = drawn(LOSS, 12, 100, 40)

    assert lines[2:5] == ["    ┌──────────┐", "    │!m1@0     │", "    └──────────┘"]


def test_of_a_long_log_the_end_is_shown() -> None:
    narrow = ruler(longest=12, last=9, widest=5, left=4, width=40)

    assert (narrow.cells, narrow.first) == (4, 7)
    assert narrow.shows(9)
    assert not narrow.shows(6)
    assert ruler(longest=2, last=0, widest=4, left=4, width=200).first == 0


def test_the_atomic_grain_has_lanes_too() -> None:
    trace = Trace(
        model="kafka-atomic",
        version="hw",
        environment={"epochs": 2, "log-size": 2, "records": 2, "replicas": 2},
        invariant="weak_isr",
        initial=0,
        steps=(
            TraceStep("ElectLeader", (("replica", 0),)),
            TraceStep("BecomeFollower", (("replica", 1), ("epoch", 0))),
            TraceStep("BecomeLeader", (("epoch", 0),)),
            TraceStep("Produce", (("leader", 0),)),
            TraceStep("Fetch", (("follower", 1),)),
            TraceStep("AdvanceHighWatermark", (("leader", 0),)),
            TraceStep("RemoveFromIsr", (("replica", 1),)),
            TraceStep("BecomeFollower", (("replica", 1), ("epoch", 1))),
        ),
    )
    told = story_of_trace(trace)
    lines = [line.plain.rstrip() for line in picture(told, 8, Size(60, 18))]

    assert lines[1] == "r0  leader e0"
    assert lines[4] == "    ISR {r0,r1}"
    assert lines[6].startswith("    │")
