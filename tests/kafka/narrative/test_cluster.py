"""A picture leaves nothing out: states that look the same are the same."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from waterline.checker.kafka.families import ATOMIC, MESSAGE
from waterline.checker.kafka.narrative.atomic_grain import AtomicGrain
from waterline.checker.kafka.narrative.cluster import Cluster
from waterline.checker.kafka.narrative.grain import Grain
from waterline.checker.kafka.narrative.message_grain import MessageGrain
from waterline.checker.problem.family import Family
from waterline.model.core.state import State
from waterline.model.message.environment import Environment

EVERYTHING = Environment(
    replicas=3,
    records=2,
    epochs=3,
    moves=1,
    session_expiries=1,
    power_losses=1,
    lost_checkpoints=1,
    directory_moves=1,
    shutdowns=1,
    parked_fetches=True,
    requests_survive=True,
    late_metadata=True,
    consumer=True,
)


@pytest.mark.parametrize(
    ("family", "version", "grain", "circumstances"),
    [
        (MESSAGE, "hw", MessageGrain(), EVERYTHING),
        (MESSAGE, "kip903", MessageGrain(), EVERYTHING),
        (MESSAGE, "elr", MessageGrain(), replace(EVERYTHING, min_insync_replicas=2)),
        (ATOMIC, "kip320", AtomicGrain(), ATOMIC.usual),
    ],
    ids=["hw", "kip903", "elr", "atomic"],
)
def test_states_that_look_the_same_are_the_same(
    family: Family, version: str, grain: Grain, circumstances: Any
) -> None:
    model = family.build(version, circumstances)
    chance = random.Random(version)
    pictures: dict[Cluster, State] = {}
    for _ in range(3):
        state = model.initial[0]
        for _ in range(40):
            offered = [step.after for step in model.successors(state)]
            for after in offered:
                picture = grain.cluster(model.settings, after)
                assert pictures.setdefault(picture, after) == after
            if not offered:
                break
            state = chance.choice(offered)

    assert len(pictures) > 50
