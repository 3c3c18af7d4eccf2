"""Digest of a course: how brokers are set, each step, and what the model says after it.

Two courses with one digest ask brokers the same, and expect the same of them. So what brokers did
counts as long as the digest is what it was, however the model is written.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict

from waterline.checker.kafka.confirm.course import Course
from waterline.checker.kafka.confirm.facts import of_model
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.replay import kind_of, settings_of

DIGITS = 16


def course_digest(course: Course, release: KafkaRelease) -> str:
    """A name for what is done on brokers, and for all that they are compared with."""
    settings = course.model.settings
    taken = {
        m.number: [str(m), of_model(m.after, settings, release)] for m in course.replayed.moments
    }
    steps = [
        [str(step), taken.get(number)]  # None for a step that is passed over.
        for number, step in enumerate(course.trace.steps, start=1)
    ]
    brokers = [asdict(kind_of(course)), asdict(settings_of(course)), settings.acks]
    asked = [course.claim.name, course.breaks, course.parted_at, course.trace.cycle]
    text = json.dumps([brokers, asked, steps], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
