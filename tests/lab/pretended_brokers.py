"""Brokers that only pretend, for walks without any: they do what the model says, or deviate."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from waterline.checker.kafka.confirm.facts import Facts
from waterline.checker.kafka.confirm.mapping import Act
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.counterexamples import TraceStep

Deviation = Callable[[str, Facts], Mapping[str, str] | Exception | None]


class Pretended:
    """Brokers that do what the model says, but for what `deviates` says of a step."""

    def __init__(self, release: KafkaRelease, deviates: Deviation) -> None:
        self.release = release
        self.replicas = range(2)
        self.deviates = deviates
        self.topics: list[str] = []
        self.settings: list[Mapping[str, str]] = []
        self.acts: list[Act] = []
        self.doing = ""

    def begin(self, topic: str, settings: Mapping[str, str], assigned: int) -> None:
        self.topics.append(topic)
        self.settings.append(settings)


def steps_of(*calls: str) -> list[TraceStep]:
    """`Produce leader=0` as steps."""
    found = []
    for name, *given in map(str.split, calls):
        pairs = (each.split("=") for each in given)
        found.append(TraceStep(name, tuple((key, int(value)) for key, value in pairs)))
    return found


FETCHED = ("SendFetch follower=1", "LeaderFetch follower=1", "RecvFetch follower=1")
WROTE = ("Produce leader=0", *FETCHED, *FETCHED)
