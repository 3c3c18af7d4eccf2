"""Sequence diagram of a counterexample of any model."""

from __future__ import annotations

from waterline.checker.kafka.narrative.story import Story, story_of
from waterline.checker.report.pages.kafka_sequence import kafka_sequence
from waterline.checker.report.pages.limits import require_drawable
from waterline.checker.report.pages.own_sequence import own_sequence
from waterline.checker.report.pages.sequence import Sequence
from waterline.checker.traces.finding import Finding


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
    require_drawable(len(finding.replayed.moments))
    return sequence_of(story_of(finding))
