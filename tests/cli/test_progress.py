"""What is shown while a search goes on: on a terminal, and on a plain stream."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from waterline.checker.cli.run_report import describe_coverage
from waterline.checker.cli.shared import progress
from waterline.checker.cli.shared.progress import LiveView, Progress, line_of, showing
from waterline.checker.problem.wording import rough_time, roughly
from waterline.checker.search.result import LevelSummary
from waterline.checker.search.search import Snapshot

RECORDED = json.loads((Path(__file__).parents[1] / "golden" / "levels.json").read_text())
SIZES = RECORDED["--grain atomic --protocol hw --replicas 3 --epochs 3"]


def snapshot(count: int, sizes: list[int] = SIZES) -> Snapshot:
    """After so many levels, each having taken a second."""
    levels = [LevelSummary(depth, n, "driver", 1.0) for depth, n in enumerate(sizes[:count])]
    seen = sum(sizes[:count])
    return Snapshot(tuple(levels), seen, 4 * (seen - sizes[count - 1]) + 1, float(count))


def seen_on(width: int, *snapshots: Snapshot) -> list[str]:
    view = LiveView()
    for each in snapshots:
        view.take(each)
    screen = Console(width=width, file=io.StringIO(), force_terminal=False)
    with screen.capture() as captured:
        screen.print(view.render())
    return captured.get().splitlines()


@pytest.mark.parametrize("columns", [80, 160])
def test_the_table_has_the_last_levels_each_on_one_line(columns: int) -> None:
    lines = seen_on(columns, *(snapshot(count) for count in range(1, 29)))

    assert len(lines) == 1 + progress.LEVELS_SHOWN + 2
    assert lines[0].split() == [
        *("Level", "On", "New", "states", "Growth", "Generated", "States/s", "Elapsed")
    ]
    depths = [int(line.split()[0]) for line in lines[1:-2]]
    assert depths == list(range(16, 28))
    assert lines[-3].split()[:4] == ["27", "driver", f"{SIZES[27]:,}", "x0.47"]
    assert all(len(line) <= columns for line in lines)


def test_below_it_are_the_totals_and_the_rest() -> None:
    lines = seen_on(80, *(snapshot(count) for count in range(1, 29)))

    assert f"{sum(SIZES[:28]):,} states" in lines[-2]
    assert "MB" in lines[-2]
    assert "expanding level 27 for" in lines[-1]
    assert lines[-1].endswith("left, 40 M states in all")


def test_nothing_is_foretold_while_levels_grow_as_they_did() -> None:
    assert seen_on(80, snapshot(1), snapshot(2))[-1].endswith("ETA unknown")
    assert line_of(snapshot(12)).endswith("ETA unknown")


def test_what_was_found_before_a_resumption_is_shown_as_far_as_it_is_known() -> None:
    lines = seen_on(80, snapshot(20))

    assert lines[-3].split() == ["19", "driver", f"{SIZES[19]:,}", "x1.04", "4.6", "M", "20", "s"]
    assert lines[-4].split() == ["18", "driver", f"{SIZES[18]:,}", "x1.13", "4.4", "M"]


def test_another_search_begins_another_table() -> None:
    lines = seen_on(80, snapshot(20), snapshot(1))

    assert len(lines) == 4


def test_a_plain_stream_is_quiet_at_first_then_gets_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with showing(Console(file=stream, width=80)) as shown:
        for count in range(1, 30):
            now[0] += 1.0
            shown.watch(snapshot(count))

    lines = stream.getvalue().splitlines()
    assert [line.split()[1] for line in lines] == ["5", "10", "15", "20", "25"]
    assert lines[0] == line_of(snapshot(6))
    assert lines[-1].endswith("left, 40 M states in all")


def test_the_same_line_is_not_printed_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a minute says that it runs; each line has the time since the beginning."""
    stream = io.StringIO()
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    shown = Progress(Console(file=stream, width=80))
    for _ in range(100):
        now[0] += 1.0
        shown.report("3 of 10 explored")
    shown.report("4 of 10 explored")

    assert stream.getvalue().splitlines() == [
        "3 of 10 explored (6 s)",
        "3 of 10 explored (66 s)",
        "4 of 10 explored (2 min)",
    ]


def test_what_is_waited_for_is_said_at_once() -> None:
    stream = io.StringIO()
    Progress(Console(file=stream, width=80)).announce("starting Spark")

    assert stream.getvalue() == "starting Spark\n"


def test_what_a_stopped_run_covered_is_told() -> None:
    short, long = snapshot(4).levels, snapshot(20).levels

    assert describe_coverage([]) == ["nothing"]
    assert describe_coverage(list(short)) == [
        "every state to depth 3, every step from depth 0 to 2"
    ]
    assert describe_coverage(list(long))[1] == "about 57% of an estimated 40 M states"


def test_numbers_and_times_are_rough() -> None:
    assert [roughly(n) for n in (7, 999, 1000, 12_345, 999_900, 41.2e6)] == [
        *("7", "999", "1.0 k", "12 k", "1.0 M", "41 M")
    ]
    assert [rough_time(s) for s in (3, 99, 180, 9000, 300_000)] == [
        *("3 s", "99 s", "3 min", "2.5 h", "3.5 days")
    ]


def test_a_long_run_says_at_once_what_it_violates_and_a_short_one_at_its_end() -> None:
    stream = io.StringIO()
    shown = Progress(Console(width=200, file=stream, force_terminal=False))
    of = [
        replace(snapshot(count), violated=names, seconds=seconds)
        for count, names, seconds in (
            (1, ("sane",), 1.0),
            (2, ("sane", "weak_isr"), 9.0),
            (3, ("sane", "weak_isr"), 10.0),
            (4, ("sane", "weak_isr", "strong_isr"), 11.0),
        )
    ]
    for each in of:
        shown.watch(each)

    first, second = [line for line in stream.getvalue().splitlines() if "violated" in line]
    assert first.startswith("level 1: sane, weak_isr are violated; the search goes on")
    assert second.startswith("level 3: strong_isr is violated")
