"""Digest of a course: its steps, and what the model of the release's rules says after each.

Two courses with one digest ask brokers the same, and expect the same of them. So what brokers did
counts as long as the digest is what it was, however the model is written.
"""

from __future__ import annotations

import hashlib
import json

from checker.kafka.confirm.course import Course
from checker.kafka.confirm.facts import of_model
from checker.kafka.confirm.releases import KafkaRelease

DIGITS = 16


def course_digest(course: Course, release: KafkaRelease) -> str:
    """A name for what is done on brokers, and for all that they are compared with."""
    settings = course.model.settings
    said = {m.number: of_model(m.after, settings, release) for m in course.replayed.moments}
    steps = [
        [str(step), said.get(number)]  # None for a step that is passed over.
        for number, step in enumerate(course.trace.steps, start=1)
    ]
    asked = [course.claim.name, course.breaks, course.parted_at, course.trace.cycle, steps]
    text = json.dumps(asked, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
