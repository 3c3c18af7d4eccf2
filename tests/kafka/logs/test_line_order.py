"""The order of a broker's lines: what is known of it is kept, what is not known is left open."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from waterline.checker.kafka.logs.answer import answer_of
from waterline.checker.kafka.logs.courses import course_of
from waterline.checker.kafka.logs.fitting import Circumstances
from waterline.checker.kafka.logs.observation import BadLogs, Kind, Observation, Place, Span
from waterline.checker.kafka.logs.order import in_order
from waterline.checker.kafka.logs.reading import read_logs
from waterline.model.message.releases import release_named

RECORDED = Path(__file__).parent / "recorded" / "3.9.1-c21"
SECOND = 1_000_000_000


def line(
    stream: str, number: int, seconds: float, fine: float = 0.001, run: Span | None = None
) -> Observation:
    """A truncation to `number` in a file, at a time that is written as fine as that."""
    start = round(seconds * SECOND)
    return Observation(
        broker=1,
        kind=Kind.TRUNCATES,
        place=Place(stream, number, ""),
        span=Span(start, start + round(fine * SECOND)),
        stream=stream,
        number=number,
        run=run,
        offset=100 * ord(stream) + number,
    )


def orders(lines: list[Observation]) -> set[str]:
    """Every order in which these can have been written, a letter for each file."""
    course = course_of(in_order(lines))
    found = {(0, "")}
    for _ in course.lines:
        found = {
            (after, said + seen.stream)
            for position, said in found
            for _, seen, after in course.next_of(position)
        }
    return {said for _, said in found}


def test_lines_of_one_time_in_two_files_are_in_no_order() -> None:
    assert orders([line("a", 1, 10.0), line("b", 1, 10.0)]) == {"ab", "ba"}
    assert orders([line("a", 1, 10.0), line("b", 1, 10.001)]) == {"ab"}
    assert orders([line("a", 1, 10.001), line("b", 1, 10.0)]) == {"ba"}
    assert orders([line("a", 1, 10.0), line("a", 2, 10.0), line("b", 1, 10.0)]) == {
        *("aab", "aba", "baa"),
    }


def test_a_log_of_seconds_beside_one_of_milliseconds() -> None:
    lines = [line("a", 1, 10.0, fine=1.0), line("b", 1, 10.4), line("b", 2, 11.0)]

    assert orders(lines) == {"abb", "bab"}
    assert orders([line("a", 1, 10.0, fine=1.0), line("b", 1, 9.999)]) == {"ba"}


def test_a_file_keeps_its_order_where_its_times_do_not() -> None:
    """Two threads, a millisecond apart; and a clock that goes back by half a second."""
    lines = [line("a", 1, 10.001), line("a", 2, 10.0), line("a", 3, 10.5), line("a", 4, 10.2)]

    assert [seen.number for seen in in_order(lines)] == [1, 2, 3, 4]


def test_lines_within_a_time_that_the_clock_showed_twice_are_in_no_order() -> None:
    """It goes back from 20 to 15: what the other file has at 17 was before or behind that."""
    twice = [line("a", 1, 20.0), line("a", 2, 15.0), line("a", 3, 25.0)]

    assert orders([*twice, line("b", 1, 17.0)]) == {"baaa", "abaa", "aaba"}
    assert orders([*twice, line("b", 1, 14.0)]) == {"baaa"}
    assert orders([*twice, line("b", 1, 22.0)]) == {"aaba"}


def test_parts_of_a_file_whose_times_do_not_overlap_are_put_in_order() -> None:
    """As they overlap where a clock went back: there the file is in its own order."""
    early, late, twice = (Span(a * SECOND, b * SECOND) for a, b in ((10, 20), (20, 30), (10, 25)))

    apart = in_order([line("a", 1, 20.0, run=late), line("a", 2, 15.0, run=early)])
    stepped = in_order([line("a", 1, 20.0, run=late), line("a", 2, 15.0, run=twice)])

    assert [(seen.number, seen.is_moved) for seen in apart] == [(2, True), (1, True)]
    assert [(seen.number, seen.is_moved) for seen in stepped] == [(1, False), (2, False)]


def test_a_line_in_two_files_is_one() -> None:
    """What is in server.log is on the console as well."""
    one = line("a", 1, 10.0)
    again = Observation(
        **{name: getattr(one, name) for name in one.__slots__ if name != "stream"}, stream="b"
    )

    assert orders([one, again, line("b", 2, 11.0)]) == {"ab"}


def test_too_many_lines_of_one_time_are_refused() -> None:
    lines = [line(stream, number, 10.0) for stream in "abcd" for number in range(1, 20)]

    with pytest.raises(BadLogs, match="in 4 files of this broker, have the same time"):
        course_of(in_order(lines))


def test_nothing_fits_does_not_rest_on_the_order_of_files(tmp_path: Path) -> None:
    """The roles of broker 1 in a file of their own, all times in seconds."""
    shutil.copytree(RECORDED, tmp_path / "logs")
    folder = tmp_path / "logs" / "broker-1"
    text = (folder / "server.log").read_text().splitlines()
    (folder / "server.log").unlink()
    for each in text:
        name = "state-change.log" if "[Broker id=1]" in each else "server.log"
        with (folder / name).open("a") as file:
            file.write(f"{each[:20]}]{each[25:]}\n")
    followed, hw_in_response = release_named("3.9.1:zookeeper")
    given = Circumstances(version=followed.version, hw_in_response=hw_in_response)

    found = answer_of(read_logs([tmp_path]), "t-0", given, seconds_max=20.0)

    assert [cause.scenario.number for cause in found.causes] == ["C21"]
