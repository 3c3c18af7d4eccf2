"""Three sets of a leader against the broker epochs themselves, as numbers (KIP-903).

A leader of Kafka compares two numbers for each follower: the broker epoch of its last fetch, and
the one in the leader's metadata. The model has three sets instead. Here the numbers are kept beside
them along walks through the model, and at each state the sets must say what the numbers say.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from tests.support.states import model_of, run
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model, Step
from waterline.model.message.caught_up import is_eligible, waits_for
from waterline.model.message.terms import ANSWERED, LEADER, PARKED, UNKNOWN_OFFSET, contains

WAITS = {"records": 2, "epochs": 3, "restarts": 3, "caught_up_wait": True}
VERSIONS = ("kip903", "elr", "kip903-with-fresh-remote-leo", "kip903-without-shrink-raises-epoch")
READS_BROKERS = ("Learn", "LearnBrokers")


@dataclass
class Numbers:
    """The broker epochs: of each broker now, and by leader and follower."""

    now: dict[int, int] = field(default_factory=lambda: {0: 0, 1: 0, 2: 0})
    fetched: dict[tuple[int, int], int] = field(default_factory=dict)
    read: dict[tuple[int, int], int] = field(default_factory=dict)

    def follow(self, step: Step, before: State) -> None:
        """Take up what a step does to the numbers."""
        after, arguments = step.after, dict(step.action.name_arguments(step.arguments))
        if step.action.name == "Restart":
            self.now[arguments["replica"]] += 1
        leader = arguments.get("replica", arguments.get("leader", -1))
        if step.action.name in READS_BROKERS and after.role[leader] == LEADER:
            for follower in self.now:
                self.read[leader, follower] = self.now[follower]
        if step.action.name == "LeaderFetch":
            follower = arguments["follower"]
            leader = before.known_leader[follower]
            if after.role[leader] == LEADER and after.fetch[follower] in (ANSWERED, PARKED):
                self.fetched[leader, follower] = self.now[follower]
        for leader, follower in list(self.fetched):
            if after.role[leader] != LEADER or after.remote_leo[leader, follower] == UNKNOWN_OFFSET:
                del self.fetched[leader, follower]


def at_first(model: Model) -> Numbers:
    """Followers have fetched from r0, and nobody has registered since."""
    first = model.initial[0]
    pairs = [(0, follower) for follower in range(1, first.replicas)]
    return Numbers(fetched=dict.fromkeys(pairs, 0), read=dict.fromkeys(pairs, 0))


def assert_sets_say_what_the_numbers_say(version: str, replicas: int, walks: int) -> None:
    model = model_of(version, **WAITS, replicas=replicas)
    chance = random.Random(f"{version} {replicas}")
    cases = set()
    for _ in range(walks):
        state, numbers = model.initial[0], at_first(model)
        for _ in range(60):
            steps = list(model.successors(state))
            if not steps:
                break
            rare = {"Crash": 0.3, "Checkpoint": 0.1, "Move": 0.2, "LagTimePasses": 0.2}
            step = chance.choices(steps, [rare.get(s.action.name, 1) for s in steps])[0]
            numbers.follow(step, state)
            state = step.after
            for leader in range(replicas):
                if state.role[leader] != LEADER:
                    continue
                for follower in set(range(replicas)) - {leader}:
                    stored = numbers.fetched.get((leader, follower))
                    read, now = numbers.read.get((leader, follower)), numbers.now[follower]
                    assert contains(state.broker_epoch_matches[leader], follower) == (
                        stored is not None and stored == read
                    )
                    assert contains(state.fetched_since[leader], follower) == (stored == now)
                    assert contains(state.read_registrations[leader], follower) == (read == now)
                    cases.add((stored == read, stored == now, read == now))
    assert len(cases) >= 4, "walks have come to few cases"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("replicas", [2, 3])
def test_the_sets_say_what_the_numbers_say(version: str, replicas: int) -> None:
    assert_sets_say_what_the_numbers_say(version, replicas, walks=20)


def test_a_high_watermark_does_not_wait_for_who_has_registered_since_its_last_fetch() -> None:
    """Brokers of 4.4.0 did so: the model that waited was refuted at its fifth step."""
    comes_back = (
        "Produce leader=0",
        "Crash replica=1",
        "Fence replica=1",
        "Restart replica=1",
        "Learn replica=0",
    )
    model = model_of("elr", **{**WAITS, "records": 1, "restarts": 1})
    found = run(model, *comes_back)
    assert contains(found.caught_up[0], 1), "within replica.lag.time.max.ms"
    assert not is_eligible(found, model.settings, 0, 1)
    assert not waits_for(found, model.settings, 0, 1)
    assert found.hw[0] == 1


def test_until_3_5_it_waits_for_who_may_not_join() -> None:
    model = model_of("kip903", **{**WAITS, "records": 1, "restarts": 1})
    alone = model_of("kraft", **{**WAITS, "records": 1, "restarts": 1})
    for each in (model, alone):
        state = each.initial[0].draft()
        state.known_isr[0] = 0b01
        if each is model:
            state.broker_epoch_matches[0] = 0
        assert waits_for(state, each.settings, 0, 1)
