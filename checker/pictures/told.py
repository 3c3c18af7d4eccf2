"""A confirmed counterexample as a story and as a sequence diagram, of whichever model it is."""

from __future__ import annotations

from checker.finding import Finding
from checker.pictures.kafka_sequence import kafka_sequence
from checker.pictures.own_sequence import own_sequence
from checker.pictures.sequence import Sequence
from checker.story.story import Story, story_of
from model.kit.transition_system import Model


def story_in(finding: Finding, model: Model) -> Story:
    """The story of a finding."""
    claim, explanation = finding.invariant, finding.explanation
    return story_of(finding.replayed, model, claim=claim, explanation=explanation)


def sequence_of(story: Story) -> Sequence:
    """The diagram."""
    title = f"{story.model.version} breaks {story.claim}"
    return (kafka_sequence if story.is_of_kafka else own_sequence)(story, title)
