"""Abstract sequence diagram: lanes, messages, notes.

Lanes are columns, steps are rows. A message goes from one lane to another, from the step that sends
it to the step that receives it, or is lost. This module knows no protocol.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field, replace


class Tone(enum.Enum):
    """Subject of a note, for its colour; its words say it as well."""

    PLAIN = "plain"
    PROMISE = "promise"
    FAULT = "fault"
    LOSS = "loss"


@dataclass(frozen=True, slots=True)
class Message:
    """Something that is sent. `arrived` and `lost` are steps, None for never.

    One that neither arrived nor was lost is still on its way at the end. An answer is drawn dashed.
    """

    sender: int
    receiver: int
    words: str
    sent: int
    arrived: int | None = None
    lost: int | None = None
    is_answer: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """Effect of a step on one lane, in a few words."""

    step: int
    lane: int
    words: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Span:
    """Steps while a lane is down, or leads, both ends included; `end` None: to the last step."""

    lane: int
    begin: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Box:
    """A record in a log at the end; `is_lost` for one that should be there, or should not."""

    words: str
    is_lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """The whole diagram. `calls` are the steps by number, from 1, and `sentences` their texts.

    `down` and `leads` are spans of lanes; `logs` what each lane holds at the end, None for a lane
    that holds nothing. `conclusion` is what is wrong at the end, `arrow` what a solid arrow means.
    """

    title: str
    lanes: tuple[str, ...]
    calls: tuple[str, ...]
    sentences: tuple[str, ...]
    messages: tuple[Message, ...]
    notes: tuple[Note, ...]
    down: tuple[Span, ...] = ()
    leads: tuple[Span, ...] = ()
    logs: tuple[tuple[Box, ...] | None, ...] = ()
    conclusion: str = ""
    arrow: str = "a message"

    @property
    def legend(self) -> Iterator[str]:
        """Yield the meaning of the lines and colours that this diagram has."""
        tones = {note.tone for note in self.notes}
        for is_there, meaning in (
            (self.arrow and self.messages, f"arrow: {self.arrow}"),
            (any(m.is_answer for m in self.messages), "dashed: an answer"),
            (any(m.lost is not None for m in self.messages), "✗ at its end: lost on the way"),
            (self.leads, "thick lane: takes itself for the leader"),
            (self.down, "broken lane: down"),
            (Tone.FAULT in tones, "yellow: a fault"),
            (Tone.PROMISE in tones, "green: committed"),
            (Tone.LOSS in tones, "red: lost, or logs that part"),
        ):
            if is_there:
                yield meaning

    def reorder(self, lanes: tuple[int, ...]) -> Sequence:
        """Return the diagram with its lanes in this order, without those that have no events."""
        busy = {note.lane for note in self.notes}
        for message in self.messages:
            busy |= {message.sender, message.receiver}
        kept = [lane for lane in lanes if lane in busy or self.logs[lane] is not None] or lanes
        place = {lane: index for index, lane in enumerate(kept)}
        return replace(
            self,
            lanes=tuple(self.lanes[lane] for lane in kept),
            logs=tuple(self.logs[lane] for lane in kept),
            messages=tuple(
                replace(m, sender=place[m.sender], receiver=place[m.receiver])
                for m in self.messages
            ),
            notes=tuple(replace(n, lane=place[n.lane]) for n in self.notes),
            down=tuple(replace(s, lane=place[s.lane]) for s in self.down),
            leads=tuple(replace(s, lane=place[s.lane]) for s in self.leads),
        )


@dataclass(slots=True)
class Events:
    """Events of a step: its notes, the messages that it sends, and those from earlier steps that
    end in it (both by number).
    """

    number: int
    ending: list[int] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def by_step(sequence: Sequence) -> list[Events]:
    """The events of every step, from the first."""
    steps = [Events(number) for number in range(1, len(sequence.calls) + 1)]
    for index, message in enumerate(sequence.messages):
        steps[message.sent - 1].sent.append(index)
        end = message.arrived if message.arrived is not None else message.lost
        if end is not None and end != message.sent:
            steps[end - 1].ending.append(index)
    for note in sequence.notes:
        steps[note.step - 1].notes.append(note)
    return steps


def spans(lane: int, flags: list[bool]) -> list[Span]:
    """Return the spans of steps while a flag is up; `flags` has one for each state, from 0."""
    found: list[Span] = []
    begin: int | None = None
    for step, flag in enumerate(flags):
        if flag and begin is None:
            begin = step
        elif not flag and begin is not None:
            found.append(Span(lane, begin, step))
            begin = None
    if begin is not None:
        found.append(Span(lane, begin, None))
    return found
