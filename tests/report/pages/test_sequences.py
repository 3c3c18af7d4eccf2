"""Sequence diagrams: what is sent, lost, noted, and how it is drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from tests.support.confirmed_traces import TRACES
from tests.support.pictured import C21, DIVERGENCE, KIP_279, LOSS, sequence, story
from waterline.checker.kafka.narrative.story import story_of
from waterline.checker.report.pages import kafka_sequence
from waterline.checker.report.pages.drawing import draw, to_svg
from waterline.checker.report.pages.formats import escape, to_mermaid
from waterline.checker.report.pages.kafka_sequence import messages_of, turns_of
from waterline.checker.report.pages.sequence import Message, Note, Sequence, Span, Tone, spans
from waterline.checker.report.pages.trace_sequence import sequence_of
from waterline.checker.traces.finding import Finding
from waterline.counterexamples import replay, trace_of
from waterline.model.message.environment import DECLARED, FAULTS, Environment
from waterline.model.message.model import message_model

SVG = "{http://www.w3.org/2000/svg}"
CLIENTS, R0, R1, CONTROLLER = range(4)


def test_the_loss_shows_both_round_trips_and_the_answer_that_is_lost() -> None:
    assert [m for m in sequence(LOSS).messages if m.sent < 8] == [
        Message(R1, R0, "fetch from 0", 1, arrived=3),
        Message(CLIENTS, R0, "m1", 2, arrived=2),
        Message(R0, R1, "m1, HW 0", 3, arrived=4, is_answer=True),
        Message(R1, R0, "fetch from 1", 5, arrived=6),
        Message(R0, CLIENTS, "m1 acknowledged", 6, arrived=6, is_answer=True),
        Message(R0, R1, "no record, HW 1", 6, lost=7, is_answer=True),
    ]


def test_the_loss_says_where_the_record_vanishes() -> None:
    told = {(note.step, note.lane): (note.words, note.tone) for note in sequence(LOSS).notes}

    assert told[10, R1] == ("truncates: m1 gone", Tone.LOSS)
    assert told[7, R0] == ("crashes", Tone.FAULT)
    assert Note(6, R0, "m1 committed", Tone.PROMISE) in sequence(LOSS).notes
    assert [log and [(b.words, b.is_lost) for b in log] for log in sequence(LOSS).logs] == [
        None,
        [("m1@0", False)],
        [("m1 lost", True)],
        None,
    ]
    assert sequence(LOSS).down == (Span(R0, 7, None), Span(R1, 8, 9))
    assert sequence(LOSS).leads == (Span(R0, 0, 7), Span(R1, 12, None))


def test_a_question_for_an_epoch_is_asked_and_answered_in_one_step() -> None:
    asked = [m for m in sequence(KIP_279).messages if "epoch" in m.words and m.sent == 9]

    assert [(m.words, m.arrived) for m in asked] == [
        ("end of epoch 1?", 9),
        ("epoch 0 ends at 1", 9),
    ]


def test_logs_that_diverge_are_marked_on_both_sides() -> None:
    logs = [log for log in sequence(DIVERGENCE).logs if log]

    assert [[(box.words, box.is_lost) for box in log] for log in logs] == [
        [("m1@0", True)],
        [("m2@1", True)],
    ]


@pytest.mark.parametrize("name", TRACES)
def test_every_message_of_any_trace_ends_once_and_after_it_began(name: str) -> None:
    for message in sequence(name).messages:
        ends = [step for step in (message.arrived, message.lost) if step is not None]
        assert len(ends) <= 1
        assert all(message.sent <= step <= story(name).steps for step in ends)
        assert message.sender != message.receiver


@pytest.mark.parametrize("name", TRACES)
def test_what_is_in_flight_in_a_state_is_drawn_across_it(name: str) -> None:
    """As many fetches as the state has on their way, but those that a leader answers later."""
    brokers = range(len(story(name).replayed.narration.rows(story(name).replayed.initial)) - 1)
    names = {f"r{number}" for number in brokers}
    lanes = sequence(name).lanes
    between = [m for m in sequence(name).messages if {lanes[m.sender], lanes[m.receiver]} <= names]
    for state in range(story(name).steps + 1):
        cluster = story(name).cluster(state)
        assert cluster is not None
        flying = [f for f in cluster.flights if not f.words.endswith(("parked", "checked"))]
        crossing = [
            m
            for m in between
            if m.sent <= state
            and (m.arrived is None or m.arrived > state)
            and (m.lost is None or m.lost > state)
        ]
        assert len(crossing) == len(flying)


def test_spans_are_what_flags_say() -> None:
    assert spans(1, [True, False, False, True, True]) == [Span(1, 0, 1), Span(1, 3, None)]
    assert spans(1, [False, False]) == []


@pytest.mark.parametrize("name", TRACES)
def test_steps_lie_below_each_other_and_notes_within_theirs(name: str) -> None:
    drawing = draw(sequence(name))

    for above, below in pairwise(drawing.bands):
        assert above.y + above.height == below.y
    for band in drawing.bands:
        for label in band.labels:
            assert band.y <= label.y
            assert label.y + 17 <= band.y + band.height
            assert label.x >= 0
            assert label.x + label.width <= drawing.width
        for arrow in band.arrows:
            assert band.y <= arrow.y1 <= band.y + band.height
            assert arrow.y2 >= arrow.y1


@pytest.mark.parametrize("name", [LOSS, C21, KIP_279])
def test_the_svg_is_well_formed_and_fetches_nothing(name: str) -> None:
    text = to_svg(sequence(name))
    root = ET.fromstring(text)
    steps = [g.get("data-step") for g in root.iter(f"{SVG}g") if g.get("data-step")]

    assert steps == [str(step) for step in range(1, story(name).steps + 1)]
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"url\(|@import|href|<image|<script", text)
    assert re.findall(r"https?://[^\"]+", text) == ["http://www.w3.org/2000/svg"]


NASTY = '</text><script>alert("1")</script>&\x1b[2J'


def nasty() -> Sequence:
    return replace(
        sequence(LOSS),
        title=NASTY,
        lanes=(NASTY,) * 4,
        calls=(NASTY,) * 12,
        sentences=(NASTY,) * 12,
        messages=(Message(0, 1, NASTY, 1, arrived=2),),
        notes=(Note(1, 0, NASTY),),
        conclusion=NASTY,
    )


def test_whatever_is_told_in_an_svg_is_escaped() -> None:
    text = to_svg(nasty())

    assert "<script" not in text
    assert "\x1b" not in text
    assert ET.fromstring(text).tag == f"{SVG}svg"


def test_mermaid_has_an_arrow_for_every_message_and_nothing_escapes_its_label() -> None:
    text = to_mermaid(sequence(LOSS))
    arrows = re.findall(r"^  p\d-?->>p\d: .+$", text, re.MULTILINE)

    assert len(arrows) == len(sequence(LOSS).messages)
    assert "Note over p1,p2: ✗ no record, HW 1 is lost" in text
    assert escape("a;b#c\n<d>\x1b%%") == "a#59;b#35;c #60;d#62; #37;#37;"
    assert "<script" not in to_mermaid(nasty())
    assert len(to_mermaid(nasty()).splitlines()) == len(to_mermaid(nasty()).split("\n")) - 1


def test_an_answer_that_changes_on_its_way_is_one_message() -> None:
    """No step of today's does so to this trace: the state after its sixth is told otherwise."""
    turns = turns_of(story(LOSS), 2, 3)
    [flight] = turns[5].after.flights
    other = replace(flight, words="m1, HW 1")
    clusters = replace(turns[5].after, flights=(flight,)), replace(turns[5].after, flights=(other,))
    changing = replace(turns[5], before=clusters[0], after=clusters[1])
    lost = replace(turns[6], before=clusters[1])
    answers = [m for m in messages_of(story(LOSS), [*turns[:6], changing, lost]) if m.lost]

    assert [(m.words, m.sent, m.lost) for m in answers] == [("m1, HW 1", 6, 7)]


def test_the_controllers_answer_comes_in_a_step_of_its_own() -> None:
    environment = replace(Environment(), late_answers=True)
    model = message_model("elr", environment)
    calls = (
        ("Produce", (0,)),
        ("ShrinkIsr", (0, 1)),
        ("AlterPartition", (0,)),
        ("HearAnswer", (0,)),
    )
    replayed = replay(trace_of(model, "sane", calls), model)
    told = sequence_of(story_of(Finding("", "", replayed, "", model)), title="late")
    asked = [m for m in told.messages if m.words.startswith("ISR")]

    assert [(told.lanes[m.sender], m.words, m.sent, m.is_answer) for m in asked] == [
        ("r0", "ISR {r0}", 3, False),
        ("Controller", "ISR {r0} granted", 4, True),
    ]


def test_a_late_read_changes_the_answer_that_is_on_its_way() -> None:
    name = "scenarios/late-read.json"
    [step] = [m.number for m in story(name).replayed.moments if m.action == "ReadLate"]
    across = [m for m in sequence(name).messages if m.is_answer and m.sent < step]

    assert [m.words for m in across if m.arrived is None or m.arrived > step]
    assert not [m for m in sequence(name).messages if step in {m.sent, m.lost}]


def test_every_fault_of_a_broker_has_its_words_in_the_diagram() -> None:
    down = {DECLARED[name].steps[-1] for name, fault in FAULTS.items() if fault.takes_down}
    others = {DECLARED[name].steps[0] for name, fault in FAULTS.items() if not fault.takes_down}

    assert down <= set(kafka_sequence._ENDS)
    assert others - {"Move", "Reassign", "WriteMinIsr"} <= set(kafka_sequence._MISHAPS), (
        "drawn at the controller"
    )
