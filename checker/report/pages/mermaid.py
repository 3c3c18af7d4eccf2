"""Mermaid text of a sequence diagram.

Mermaid has no message that takes time: an arrow stands where it is sent, and where something else
happens before it arrives, a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from waterline.checker.report.pages.sequence import Message, Sequence, Tone, by_step

_MARKS = {Tone.PLAIN: "", Tone.PROMISE: "✓ ", Tone.FAULT: "⚡ ", Tone.LOSS: "✗ "}
_SPELLED = {char: f"#{ord(char)};" for char in ';#<>"{}[]|%&'}
"""Characters that mean something to Mermaid, or to the HTML that it makes."""


def to_mermaid(sequence: Sequence) -> str:
    """The text, without a fence around it."""
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
