"""Scenes of a page: one per state, in words and cells."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass

from waterline.checker.kafka.narrative.cluster import (
    Cluster,
    Fact,
    Flight,
    Lane,
    compare_facts,
    facts_of_controller,
    facts_of_leader,
    facts_on_disk,
)
from waterline.checker.kafka.narrative.fates import Fate
from waterline.checker.kafka.narrative.story import Phrase, Story


@dataclass(frozen=True, slots=True)
class LogCell:
    """One offset of a log: the record, if any, with the marks before it.

    `kinds` are of new, promised, doomed, gone, wrong; `description` explains the last four.
    """

    words: str = ""
    kinds: tuple[str, ...] = ()
    description: str = ""
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LaneScene:
    """A broker: what it does, its log, and what else it knows. `is_new` is about what it does."""

    name: str
    role: str
    is_up: bool
    leads: bool
    is_new: bool
    cells: tuple[LogCell, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a model's own table: its name, and a fact for each column."""

    name: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """The state after a step, and the step. Step 0 is the initial state.

    A scene that `repeats` is on the cycle of an infinite trace. Scenes of Kafka's models have
    `lanes` and `flights`, all others `rows`.
    """

    number: int
    call: str
    actor: str
    is_fault: bool
    repeats: bool
    phrase: Phrase
    why: str
    lanes: tuple[LaneScene, ...]
    flights: tuple[Fact, ...]
    rows: tuple[Row, ...]
    facts: tuple[Fact, ...]


def scenes_of(story: Story) -> tuple[Scene, ...]:
    """Every scene of the story."""
    return tuple(_scene(story, number) for number in range(story.steps + 1))


def _scene(story: Story, number: int) -> Scene:
    now, was = story.cluster(number), story.cluster(max(number - 1, 0))
    clusters = None if now is None or was is None else (was, now)
    return Scene(
        number=number,
        call=str(story.replayed.moments[number - 1]) if number else "",
        actor=story.actor(number) if number else "",
        is_fault=bool(number) and story.is_fault(number),
        repeats=story.repeats(number),
        phrase=story.phrase(number) if number else Phrase("Initial state.", "", ""),
        why=story.why(number) if number else "",
        lanes=_lanes(story, number, *clusters) if clusters else (),
        flights=_flights(*clusters) if clusters else (),
        rows=() if clusters else _rows(story, number),
        facts=compare_facts(_describe_cluster(clusters[1]), _describe_cluster(clusters[0]))
        if clusters
        else _rest(story, number),
    )


def _lanes(story: Story, number: int, was: Cluster, now: Cluster) -> tuple[LaneScene, ...]:
    columns = story.longest_log + 1
    return tuple(
        LaneScene(
            name=f"r{lane.replica}",
            role=lane.role,
            is_up=lane.is_up,
            leads=lane.leads,
            is_new=lane.role != before.role,
            cells=tuple(
                _cell(story, number, before, lane, offset, now.committed)
                for offset in range(columns)
            ),
            facts=compare_facts(_describe_lane(now, lane), _describe_lane(was, before)),
        )
        for before, lane in zip(was.lanes, now.lanes, strict=True)
    )


def _cell(
    story: Story, number: int, before: Lane, lane: Lane, offset: int, committed: Many[int]
) -> LogCell:
    marks = [
        name
        for name, at in (("HW", lane.high_watermark), ("LEO", lane.leo))
        if at == offset and lane.is_up
    ]
    gone = [v.fate for v in story.vanished_records(number) if v.copy.replica == lane.replica]
    missing = next((fate for fate in gone if _offset_of(fate, lane) == offset), None)
    if offset >= lane.leo:
        if missing is None:
            return LogCell(marks=tuple(marks))
        return LogCell(f"m{missing.record}", ("gone",), "gone from this log", tuple(marks))
    cell = lane.log[offset]
    kinds, text = [], []
    if cell not in before.log:
        kinds.append("new")
    if offset < len(committed) and committed[offset] == cell.record:
        kinds.append("promised")
        text.append("committed")
    if cell.record in story.doomed_after(number):
        kinds.append("doomed")
        text.append(f"will end {story.doomed[cell.record].ending.value}")
    is_last = number == story.steps
    if is_last and lane.replica in story.breaking.brokers and offset in story.breaking.offsets:
        kinds.append("wrong")
        text.append("here the claim breaks")
    if missing is not None:
        kinds.append("wrong")
        text.append(f"m{missing.record} was here")
    return LogCell(str(cell), tuple(kinds), "; ".join(text), tuple(marks))


def _offset_of(fate: Fate, lane: Lane) -> int | None:
    copies = [copy.offset for copy in fate.copies if copy.replica == lane.replica]
    return copies[-1] if copies else None


def _describe_lane(cluster: Cluster, lane: Lane) -> Iterator[tuple[str, str]]:
    if lane.high_watermark is not None:
        yield "HW", str(lane.high_watermark)
    yield "LEO", str(lane.leo)
    yield from facts_on_disk(lane)
    yield from facts_of_leader(cluster, lane)


def _flights(was: Cluster, now: Cluster) -> tuple[Fact, ...]:
    old = {_describe_flight(flight) for flight in was.flights}
    text = (_describe_flight(flight) for flight in now.flights)
    return tuple(Fact(where, words, (where, words) not in old) for where, words in text)


def _describe_flight(flight: Flight) -> tuple[str, str]:
    return f"r{flight.sender} → r{flight.receiver}", flight.words


def _describe_cluster(cluster: Cluster) -> list[tuple[str, str]]:
    return [
        ("Controller", ", ".join(map(" ".join, facts_of_controller(cluster.control)))),
        ("Committed", " ".join(f"m{record}" for record in cluster.committed) or "none"),
        ("Acknowledged", " ".join(f"m{record}" for record in cluster.acknowledged) or "none"),
        *cluster.rest,
    ]


def _rows(story: Story, number: int) -> tuple[Row, ...]:
    narration, states = story.replayed.narration, story.replayed.states
    header, *rows = narration.rows(states[number])
    before = narration.rows(states[max(number - 1, 0)])[1:]
    return tuple(
        Row(row[0], compare_facts(_titles_and_cells(header, row), _titles_and_cells(header, old)))
        for row, old in zip(rows, before, strict=True)
    )


def _titles_and_cells(header: Many[str], row: Many[str]) -> Iterator[tuple[str, str]]:
    """A row's cells with their titles, without the row's name."""
    return zip(header[1:], row[1:], strict=True)


def _rest(story: Story, number: int) -> tuple[Fact, ...]:
    narration, states = story.replayed.narration, story.replayed.states
    before = narration.summary(states[max(number - 1, 0)])
    return compare_facts(narration.summary(states[number]), before)
