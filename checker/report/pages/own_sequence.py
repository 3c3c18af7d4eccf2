"""Sequence diagram of any model's trace: a lane for each name, and each row of its table."""

from __future__ import annotations

from collections.abc import Iterator

from checker.kafka.narrative.story import Story
from checker.report.pages.sequence import Note, Sequence, Tone

_WIDTH_MAX = 60
"""Most characters of a note: it says what changed, not all that there is."""


def own_sequence(story: Story, title: str) -> Sequence:
    """The diagram of a model that nothing is known of but how it is narrated."""
    narration = story.replayed.narration
    rows = [row[0] for row in narration.rows(story.replayed.initial)[1:]]
    lanes = (*dict.fromkeys((*rows, *narration.lanes)), "state")
    return Sequence(
        title=title,
        lanes=lanes,
        calls=tuple(str(moment) for moment in story.replayed.moments),
        sentences=tuple(story.sentence(step) for step in range(1, story.steps + 1)),
        messages=(),
        notes=tuple(_notes(story, lanes)),
        logs=(None,) * len(lanes),
        conclusion=story.explanation,
    ).ordered(tuple(range(len(lanes))), always=range(len(lanes) - 1))


def _notes(story: Story, lanes: tuple[str, ...]) -> Iterator[Note]:
    """What changes in a lane; of a name that acts and has no row, that it acts."""
    narration, rest = story.replayed.narration, len(lanes) - 1
    named = {row[0] for row in narration.rows(story.replayed.initial)[1:]}
    for moment in story.replayed.moments:
        tone = Tone.FAULT if story.is_fault(moment.number) else Tone.PLAIN
        header, *rows = narration.rows(moment.after)
        for lane, (old, new) in enumerate(
            zip(narration.rows(moment.before)[1:], rows, strict=True)
        ):
            for name, was, now in zip(header, old, new, strict=True):
                if was != now:
                    yield Note(moment.number, lane, _cut(f"{name} {now}"), tone)
        actor = story.actor(moment.number)
        if actor in lanes and actor not in named:
            yield Note(moment.number, lanes.index(actor), _cut(moment.action), tone)
        was_described = dict(narration.summary(moment.before))
        for label, text in narration.summary(moment.after):
            if was_described.get(label) != text:
                yield Note(moment.number, rest, _cut(f"{label} {text}"), tone)


def _cut(words: str) -> str:
    return words if len(words) <= _WIDTH_MAX else words[: _WIDTH_MAX - 1] + "…"
