"""Walks through small models, and scripts as texts."""

from __future__ import annotations

from pathlib import Path

from waterline.checker.kafka.families import MESSAGE
from waterline.checker.user_models.scripts.calls import step_called
from waterline.checker.user_models.scripts.script import Played, parse, play
from waterline.checker.user_models.scripts.walk import Walk

SCRIPTS = Path(__file__).parents[2] / "examples" / "scripts"
LOSS = (
    *("SendFetch r1", "Produce r0", "LeaderFetch r1", "RecvFetch r1", "SendFetch r1"),
    *("LeaderFetch r1", "Crash r0", "Crash r1", "Restart r1", "Learn r1", "Fence r0", "Learn r1"),
)
"""The shortest way of hw to lose a record, as README shows it."""


def walk_of(version: str = "hw", *steps: str, **options: object) -> Walk:
    """A walk through Kafka's model that has taken these steps."""
    given = {name.replace("_", "-"): value for name, value in options.items()}
    walk = Walk(MESSAGE.problem(version, given))
    for step in steps:
        walk.take(step_called(step, walk))
    return walk


def came(text: str, walk: Walk) -> list[Played]:
    """What comes of each line of a script."""
    return list(play(parse(text, "story.steps"), walk))
