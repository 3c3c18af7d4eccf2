"""Layout of a sequence diagram in pixels.

A step is as high as what it has to show: first what is sent and arrives, one below the other, then
the notes, which lie over lines that only pass.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from waterline.checker.report.pages.sequence import Events, Message, Sequence, Span, Tone, by_step
from waterline.checker.report.pages.templating import ours, templates, without_blank_lines

PITCH = 152
"""Between two lanes."""
LEFT = 84
"""Where the first lane is; the numbers of steps are left of it."""
TOP = 66
"""Where the first step begins."""
PORT, LINE, PADDING = 22, 17, 9
"""Heights: of an end of a message, of a note, and between two steps."""
LETTER = 6.7
BOLD, HEADING = 7.5, 9.0
"""How wide a letter is, about: SVG does not say, and does not break lines."""
BOX_MAX = 58


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a lane to another; `is_cut` where it is lost on the way, `is_open` where still on it."""

    x1: int
    y1: int
    x2: int
    y2: int
    words: str
    words_x: int
    anchor: str
    is_answer: bool
    is_cut: bool
    is_open: bool

    @property
    def angle(self) -> int:
        """Where it points, in degrees clockwise from the right."""
        return round(math.degrees(math.atan2(self.y2 - self.y1, self.x2 - self.x1)))


@dataclass(frozen=True, slots=True)
class Label:
    """A note over its lane."""

    x: int
    y: int
    width: int
    words: str
    tone: str


@dataclass(frozen=True, slots=True)
class Line:
    """A part of a lifeline: `kind` is up, down or leads."""

    x: int
    y1: int
    y2: int
    kind: str


@dataclass(frozen=True, slots=True)
class Band:
    """One step: its number, its call, its sentence, and its vertical extent."""

    number: int
    call: str
    sentence: str
    y: int
    height: int
    is_fault: bool
    arrows: tuple[Arrow, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class RecordBox:
    """A record in a log at the end."""

    x: int
    width: int
    words: str
    is_lost: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """All of it."""

    title: str
    width: int
    height: int
    lanes: tuple[tuple[int, str], ...]
    lines: tuple[Line, ...]
    bands: tuple[Band, ...]
    logs: tuple[tuple[RecordBox, ...], ...]
    logs_y: int
    empty: tuple[int, ...]
    conclusion: tuple[str, ...]
    conclusion_y: int
    legend: tuple[str, ...]
    legend_y: int

    @property
    def is_broad(self) -> bool:
        """True if it would be too small to read where it has to be made narrow."""
        return self.width > 480


def x_of(lane: int) -> int:
    """Where a lane is."""
    return LEFT + lane * PITCH


@dataclass(slots=True)
class _Rows:
    """Where steps, their notes and the ends of messages lie: (message, whether its receiver's)."""

    tops: list[int]
    ends: dict[tuple[int, bool], int]
    notes: list[int]


def draw(sequence: Sequence) -> Drawing:
    """The diagram in pixels."""
    steps = by_step(sequence)
    rows = _rows(sequence, steps)
    bottom = rows.tops[-1]
    lanes_width = x_of(len(sequence.lanes) - 1) + PITCH // 2 + 12
    width = max(lanes_width, int(len(sequence.title) * HEADING) + 24)
    conclusion = _wrap(sequence.conclusion, int((width - 48) / BOLD))
    logs_y = bottom + 12
    has_logs = any(log is not None for log in sequence.logs)
    conclusion_y = logs_y + (46 if has_logs else 8)
    legend_y = conclusion_y + (len(conclusion) * LINE + 22 if conclusion else 0)
    legend = _wrap("; ".join(sequence.legend), int((width - 24) / LETTER))
    return Drawing(
        title=sequence.title,
        width=width,
        height=legend_y + len(legend) * LINE + 12,
        lanes=tuple((x_of(lane), name) for lane, name in enumerate(sequence.lanes)),
        lines=tuple(_lines(sequence, rows)),
        bands=tuple(_band(sequence, rows, step) for step in steps),
        logs=tuple(
            _boxes(sequence, lane) for lane, log in enumerate(sequence.logs) if log is not None
        ),
        logs_y=logs_y,
        empty=tuple(x_of(lane) for lane, log in enumerate(sequence.logs) if log == ()),
        conclusion=conclusion,
        conclusion_y=conclusion_y,
        legend=legend,
        legend_y=legend_y,
    )


def _rows(sequence: Sequence, steps: list[Events]) -> _Rows:
    rows = _Rows([TOP], {}, [])
    for step in steps:
        y = rows.tops[-1] + PADDING + 8
        for index in (*step.ending, *step.sent):
            message = sequence.messages[index]
            if message.sent == step.number:
                rows.ends[index, False] = y
            if step.number in {message.arrived, message.lost}:
                rows.ends[index, True] = y
            y += PORT
        y += 0 if step.ending or step.sent else 4
        rows.notes.append(y)
        lanes = Counter(note.lane for note in step.notes)
        deepest = max(lanes.values(), default=0)
        rows.tops.append(y + deepest * (LINE + 3) + PADDING - (8 if not deepest else 0))
    return rows


def _lines(sequence: Sequence, rows: _Rows) -> list[Line]:
    end = rows.tops[-1] + 4
    lines = [Line(x_of(lane), TOP - 22, end, "up") for lane in range(len(sequence.lanes))]
    for kind, found in (("leads", sequence.leads), ("down", sequence.down)):
        for span in found:
            begin, stop = _reach(span, rows)
            lines.append(Line(x_of(span.lane), begin, stop, kind))
    return lines


def _reach(span: Span, rows: _Rows) -> tuple[int, int]:
    """From the notes of the step where it begins to those of the one where it ends."""
    begin = TOP - 22 if span.begin == 0 else rows.notes[span.begin - 1]
    return begin, rows.tops[-1] + 4 if span.end is None else rows.notes[span.end - 1]


def _band(sequence: Sequence, rows: _Rows, events: Events) -> Band:
    step, notes = events.number, events.notes
    labels = []
    used: dict[int, int] = {}
    for note in notes:
        row = used.get(note.lane, 0)
        used[note.lane] = row + 1
        letter = BOLD if note.tone is Tone.LOSS else LETTER
        width = min(int(len(note.words) * letter) + 14, PITCH - 4)
        words = _fit(note.words)
        y = rows.notes[step - 1] + row * (LINE + 3)
        labels.append(Label(x_of(note.lane) - width // 2, y, width, words, note.tone.value))
    arrows = [_arrow(sequence.messages[index], index, rows) for index in events.sent]
    return Band(
        number=step,
        call=sequence.calls[step - 1],
        sentence=sequence.sentences[step - 1],
        y=rows.tops[step - 1],
        height=rows.tops[step] - rows.tops[step - 1],
        is_fault=any(note.tone is Tone.FAULT for note in notes),
        arrows=tuple(arrows),
        labels=tuple(labels),
    )


def _arrow(message: Message, index: int, rows: _Rows) -> Arrow:
    x1, x2 = x_of(message.sender), x_of(message.receiver)
    y1 = rows.ends[index, False]
    y2 = rows.ends.get((index, True), rows.tops[-1])
    forward = 1 if x2 > x1 else -1
    is_open = message.arrived is None and message.lost is None
    if message.lost is not None or is_open:
        x2 = x1 + (x2 - x1) * 2 // 3
    return Arrow(
        x1=x1 + 4 * forward,
        y1=y1,
        x2=x2 - 4 * forward,
        y2=y2,
        words=message.words,
        words_x=x1 + 10 * forward,
        anchor="start" if forward == 1 else "end",
        is_answer=message.is_answer,
        is_cut=message.lost is not None,
        is_open=is_open,
    )


def _boxes(sequence: Sequence, lane: int) -> tuple[RecordBox, ...]:
    log = sequence.logs[lane] or ()
    width = min(BOX_MAX, (PITCH - 8) // max(len(log), 1))
    left = x_of(lane) - width * len(log) // 2
    return tuple(
        RecordBox(left + index * width, width - 3, box.words, box.is_lost)
        for index, box in enumerate(log)
    )


def _fit(words: str) -> str:
    most = int((PITCH - 16) / LETTER)
    return words if len(words) <= most else words[: most - 1] + "…"


def _wrap(text: str, width: int) -> tuple[str, ...]:
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return tuple(lines)


def to_svg(sequence: Sequence) -> str:
    """The file."""
    template = templates().get_template("diagram.svg.j2")
    text = template.render(drawing=draw(sequence), css=ours("diagram.css"))
    return without_blank_lines(text) + "\n"
