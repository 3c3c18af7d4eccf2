"""The sequence diagram of a counterexample, of whichever model it is."""

from __future__ import annotations

from checker.finding import Finding
from checker.pictures.kafka_sequence import kafka_sequence
from checker.pictures.limits import require_drawable
from checker.pictures.own_sequence import own_sequence
from checker.pictures.sequence import Sequence
from checker.story.story import Story, story_of


def sequence_of(story: Story, *, title: str = "") -> Sequence:
    """The diagram of a story; without a title it says what is broken."""
    title = title or f"{story.model.version} breaks {story.claim}"
    return (kafka_sequence if story.is_of_kafka else own_sequence)(story, title)


def sequence_in(finding: Finding) -> Sequence:
    """The diagram of a finding. Raises `TooLongToDraw`."""
    require_drawable(len(finding.replayed.moments))
    return sequence_of(story_of(finding))
