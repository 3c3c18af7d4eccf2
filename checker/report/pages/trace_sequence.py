"""Sequence diagram of any model's trace; a user model has a lane for each name that takes part."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Many
from dataclasses import replace

from waterline.checker.kafka.narrative.story import Story, story_of
from waterline.checker.problem.errors import Refused
from waterline.checker.report.pages.kafka_sequence import kafka_sequence
from waterline.checker.report.pages.sequence import Message, Note, Sequence
from waterline.checker.traces.finding import Finding
from waterline.counterexamples import Moment
from waterline.model.core.state import State

_WIDTH_MAX = 60
"""Most characters of a note: it says what changed, not all that there is."""
_REST = "state"
"""The lane of what belongs to no name."""
DRAWN_STEPS_MAX = 1_000
"""Most steps of a diagram: a longer one is unreadable."""


class TooLongToDraw(Refused, ValueError):
    """A trace has more steps than a diagram shows."""


def own_sequence(story: Story, title: str) -> Sequence:
    """The diagram of a model that nothing is known of but how it is narrated.

    What is sent through a queue or a bag is a message. Any other arrow goes from who acts to what
    else the step names or changes.
    """
    narration, moments = story.replayed.narration, story.replayed.moments
    names = {row[0] for row in narration.rows(story.replayed.initial)[1:]} | {_REST}
    names |= {story.actor(moment.number) for moment in moments}
    names |= {
        name for ends, _ in _channels(story, story.replayed.initial).values() for name in ends
    }
    lanes = tuple(name for name in dict.fromkeys((*narration.lanes, _REST)) if name in names)
    messages, notes = list(_messages(story, lanes)), []
    for moment in moments:
        step, (actor, *others) = moment.number, (*story.actor_names(moment.number), "")
        passed = [m for m in messages if step in {m.sent, m.arrived, m.lost}]
        changes = list(_changes(story, moment, without_channels=bool(passed)))
        notes += [Note(step, lanes.index(lane), _cut(words)) for lane, words in changes]
        reached = dict.fromkeys((*others, *(lane for lane, _ in changes)))
        joined = {lanes[lane] for m in passed for lane in (m.sender, m.receiver)} | {actor}
        words = " ".join((moment.action, *(name for name in others if name and name not in lanes)))
        to = [lanes.index(name) for name in reached if name in lanes and name not in joined]
        if actor:
            messages += [Message(lanes.index(actor), lane, words, step, step) for lane in to]
        if actor and not to and not passed and actor not in reached:
            notes.append(Note(step, lanes.index(actor), _cut(words)))
    return Sequence(
        title=title,
        lanes=lanes,
        calls=tuple(str(moment) for moment in moments),
        sentences=tuple(story.sentence(step) for step in range(1, story.steps + 1)),
        messages=tuple(sorted(messages, key=lambda message: message.sent)),
        notes=tuple(notes),
        logs=(None,) * len(lanes),
        conclusion=story.explanation,
        arrow="a message, or from who acts to what else the step names or changes",
    ).reorder(tuple(range(len(lanes))))


def _messages(story: Story, lanes: tuple[str, ...]) -> Iterator[Message]:
    """Yield a message for each value put into a channel in one step and taken out in another.

    A channel that does not name two actors delivers to whichever takes the message out.
    """
    flying: defaultdict[str, list[tuple[Message, str]]] = defaultdict(list)
    for moment in story.replayed.moments:
        step, actor = moment.number, story.actor(moment.number)
        before, after = _channels(story, moment.before), _channels(story, moment.after)
        for channel, (ends, held) in after.items():
            was, now = Counter(before[channel][1]), Counter(held)
            for words in (was - now).elements():
                kept = flying[channel]
                found = next((each for each in kept if each[0].words == _cut(words)), None)
                if found is None:
                    continue
                kept.remove(found)
                message, receiver = found[0], found[1] or actor
                if receiver not in {"", lanes[message.sender]}:
                    arrived, lost = (step, None) if actor in {"", receiver} else (None, step)
                    to = lanes.index(receiver)
                    yield replace(message, receiver=to, arrived=arrived, lost=lost)
            sender = actor or next(iter(ends), "")
            receiver = next((name for name in reversed(ends) if name != sender), "")
            if sender:
                sent = Message(lanes.index(sender), lanes.index(sender), "", step)
                for words in (now - was).elements():
                    flying[channel].append((replace(sent, words=_cut(words)), receiver))
    for kept in flying.values():
        yield from (replace(m, receiver=lanes.index(to)) for m, to in kept if to)


def _channels(story: Story, state: State) -> Mapping[str, tuple[Many[str], Many[str]]]:
    channels = story.model.narration.channels
    return channels(state) if channels is not None else {}


def _changes(story: Story, moment: Moment, *, without_channels: bool) -> Iterator[tuple[str, str]]:
    """Yield the changes of a step: the lane, and the new value with its name."""
    narration, channels = story.replayed.narration, _channels(story, moment.after)
    hidden = {name.partition("[")[0] for name in channels} if without_channels else set[str]()
    header, *rows = narration.rows(moment.after)
    for old, new in zip(narration.rows(moment.before)[1:], rows, strict=True):
        for name, was, now in zip(header, old, new, strict=True):
            if was != now and name not in hidden:
                yield new[0], f"{name} {now}"
    before = dict(narration.summary(moment.before))
    for label, text in narration.summary(moment.after):
        if before.get(label) != text and label not in hidden:
            yield _REST, f"{label} {text}"


def _cut(words: str) -> str:
    return words if len(words) <= _WIDTH_MAX else words[: _WIDTH_MAX - 1] + "…"


def sequence_of(story: Story, *, title: str = "") -> Sequence:
    """The diagram of a story; without a title it says what is broken."""
    title = title or describe_title(story)
    return (kafka_sequence if story.is_of_kafka else own_sequence)(story, title)


def describe_title(story: Story) -> str:
    """`hw breaks no_committed_loss`, or what else the trace shows."""
    version = story.model.version
    if story.raises:
        return f"{version}: an error of a rule"
    return f"{version} breaks {story.claim}" if story.breaks else f"{version}, steps by hand"


def sequence_in(finding: Finding) -> Sequence:
    """The diagram of a finding. Raises `TooLongToDraw`."""
    if (steps := len(finding.replayed.moments)) > DRAWN_STEPS_MAX:
        raise TooLongToDraw(
            f"the trace has {steps:,} steps, and a diagram shows at most {DRAWN_STEPS_MAX:,}; "
            "step through it with waterline view"
        )
    return sequence_of(story_of(finding))
