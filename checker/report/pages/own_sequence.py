"""Sequence diagram of any model's trace: a lane for each name that something happens to."""

from __future__ import annotations

from collections.abc import Iterator

from checker.kafka.narrative.story import Story
from checker.report.pages.sequence import Message, Note, Sequence
from counterexamples import Moment
from counterexamples.protocols import Narration

_WIDTH_MAX = 60
"""Most characters of a note: it says what changed, not all that there is."""
_REST = "state"
"""The lane of what belongs to no name."""


def own_sequence(story: Story, title: str) -> Sequence:
    """The diagram of a model that nothing is known of but how it is narrated.

    An arrow goes from who acts to what else the step names or changes.
    """
    narration, moments = story.replayed.narration, story.replayed.moments
    rows = [row[0] for row in narration.rows(story.replayed.initial)[1:]]
    lanes = tuple(dict.fromkeys((*rows, *narration.lanes, _REST)))
    notes, messages = [], []
    for moment in moments:
        changes = [(lanes.index(lane), words) for lane, words in _changes(narration, moment)]
        notes += [Note(moment.number, lane, _cut(words)) for lane, words in changes]
        named = [lanes.index(name) for name in story.named(moment.number)]
        reached = dict.fromkeys((*named[1:], *(lane for lane, _ in changes)))
        arrows = [
            Message(named[0], lane, moment.action, moment.number, moment.number)
            for lane in reached
            if named and lane != named[0]
        ]
        if named and not arrows and named[0] not in reached:
            notes.append(Note(moment.number, named[0], _cut(moment.action)))
        messages += arrows
    return Sequence(
        title=title,
        lanes=lanes,
        calls=tuple(str(moment) for moment in moments),
        sentences=tuple(story.sentence(step) for step in range(1, story.steps + 1)),
        messages=tuple(messages),
        notes=tuple(notes),
        logs=(None,) * len(lanes),
        conclusion=story.explanation,
        arrow="from who acts to what else the step names or changes",
    ).ordered(tuple(range(len(lanes))))


def _changes(narration: Narration, moment: Moment) -> Iterator[tuple[str, str]]:
    """What a step changes: the lane, and the new value with its name."""
    header, *rows = narration.rows(moment.after)
    for old, new in zip(narration.rows(moment.before)[1:], rows, strict=True):
        for name, was, now in zip(header, old, new, strict=True):
            if was != now:
                yield new[0], f"{name} {now}"
    before = dict(narration.summary(moment.before))
    for label, text in narration.summary(moment.after):
        if before.get(label) != text:
            yield _REST, f"{label} {text}"


def _cut(words: str) -> str:
    return words if len(words) <= _WIDTH_MAX else words[: _WIDTH_MAX - 1] + "…"
