"""Table of formats that a trace converts to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from waterline.checker.problem.problem import Problem
from waterline.checker.report.pages.sequence import Message, Sequence, Tone, by_step
from waterline.checker.report.pages.surroundings import (
    DISTANCE,
    STATES_MAX,
    surroundings,
    to_dot,
    to_graphml,
)
from waterline.checker.report.pages.trace_sequence import sequence_in
from waterline.checker.traces.finding import Finding
from waterline.checker.traces.recording import record_trace
from waterline.counterexamples import to_json
from waterline.counterexamples.formats import Recording, to_itf, to_tlc

if TYPE_CHECKING:
    import networkx


_MARKS = {Tone.PLAIN: "", Tone.PROMISE: "✓ ", Tone.FAULT: "⚡ ", Tone.LOSS: "✗ "}
_SPELLED = {char: f"#{ord(char)};" for char in ';#<>"{}[]|%&'}
"""Characters that mean something to Mermaid, or to the HTML that it makes."""


def to_mermaid(sequence: Sequence) -> str:
    """A sequence diagram as Mermaid's text, without a fence around it.

    Mermaid has no message that takes time: an arrow stands where it is sent, and where something
    else happens before it arrives, a note says so.
    """
    return "\n".join(_lines(sequence)) + "\n"


def _lines(sequence: Sequence) -> Iterator[str]:
    yield "sequenceDiagram"
    for lane, name in enumerate(sequence.lanes):
        yield f"  participant p{lane} as {escape(name)}"
    for step in by_step(sequence):
        call = escape(sequence.calls[step.number - 1])
        yield f"  Note over {_all(sequence)}: {step.number}. {call}"
        yield from (_end(sequence.messages[index]) for index in step.ending)
        yield from (_arrow(sequence.messages[index]) for index in step.sent)
        for note in step.notes:
            yield f"  Note over p{note.lane}: {_MARKS[note.tone]}{escape(note.words)}"
    for lane, log in enumerate(sequence.logs):
        if log is not None:
            held = " ".join(f"✗ {box.words}" if box.is_lost else box.words for box in log)
            yield f"  Note over p{lane}: log {escape(held or 'empty')}"
    if sequence.conclusion:
        yield f"  Note over {_all(sequence)}: ✗ {escape(sequence.conclusion)}"


def _all(sequence: Sequence) -> str:
    return "p0" if len(sequence.lanes) == 1 else f"p0,p{len(sequence.lanes) - 1}"


def _arrow(message: Message) -> str:
    arrow = "-->>" if message.is_answer else "->>"
    return f"  p{message.sender}{arrow}p{message.receiver}: {escape(message.words)}"


def _end(message: Message) -> str:
    words = escape(message.words)
    if message.lost is not None:
        return f"  Note over p{message.sender},p{message.receiver}: ✗ {words} is lost"
    return f"  Note over p{message.receiver}: {words} arrives"


def escape(text: str) -> str:
    """Return a text on one line, with all characters special to Mermaid escaped."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    return "".join(_SPELLED.get(char, char) for char in plain)


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A confirmed counterexample to be converted, and how much of a graph is wanted around it."""

    problem: Problem
    finding: Finding
    distance: int = DISTANCE
    states_max: int = STATES_MAX


def _recording(given: Converted) -> Recording:
    replayed = given.finding.replayed
    return record_trace(given.problem.model, replayed.trace, replayed.states)


def _svg(given: Converted) -> str:
    from waterline.checker.report.pages.drawing import to_svg  # noqa: PLC0415 - loads Jinja

    return to_svg(sequence_in(given.finding))


def _markdown(given: Converted) -> str:
    from waterline.checker.report.pages.markdown import to_markdown  # noqa: PLC0415 - as above

    return to_markdown(given.problem, given.finding)


def _html(given: Converted) -> str:
    from waterline.checker.report.pages.report import finding_page  # noqa: PLC0415 - as above

    return finding_page(given.problem, given.finding)


def _graph(given: Converted) -> networkx.MultiDiGraph[Any]:
    return surroundings(
        given.finding.replayed,
        given.problem.model,
        distance=given.distance,
        states_max=given.states_max,
    )


FORMATS: Mapping[str, Callable[[Converted], str]] = {
    "json": lambda given: to_json(given.finding.replayed.trace),
    "itf": lambda given: to_itf(_recording(given)),
    "tlc": lambda given: to_tlc(_recording(given)),
    "mermaid": lambda given: to_mermaid(sequence_in(given.finding)),
    "svg": _svg,
    "html": _html,
    "markdown": _markdown,
    "dot": lambda given: to_dot(_graph(given)),
    "graphml": lambda given: to_graphml(_graph(given)),
}
"""Writers by the name that `waterline convert --to` takes."""
