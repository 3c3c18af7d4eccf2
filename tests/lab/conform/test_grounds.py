"""Walks on clusters that only pretend: by chance, aimed, and gone on with; known differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from lab.conform import grounds
from lab.conform.aiming import plan_goals
from lab.conform.circumstances import CIRCUMSTANCES, Circumstances
from lab.conform.conformance import TRIES_MAX, Conformance, begin
from lab.conform.grounds import (
    Grounds,
    Round,
    plan,
    walk_along,
    walk_by_chance,
    walk_to_outcomes,
)
from lab.conform.kept_walks import CHANCE
from tests.lab.pretended_brokers import WROTE, Deviation, steps_of
from waterline.checker.kafka.confirm.facts import ISR, Facts, differences
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release
from waterline.checker.kafka.confirm.stage import NotHeld
from waterline.checker.kafka.confirm.stepping import (
    KNOWN,
    LAG_MS,
    NO_LAG_MS,
    StepSeen,
    known_difference,
)

OLD, NEW = kafka_release("0.10.2.2"), kafka_release("2.1.1")
CRASHES = next(each for each in CIRCUMSTANCES if each.name == "crashes")
FEWER = replace(
    CRASHES, environment=replace(CRASHES.environment, records=1, epochs=1, restarts=1, moves=0)
)
"""The same with so few states that all ways are soon planned."""


def is_known(call: str, epochs: tuple[int, int], release: KafkaRelease) -> bool:
    """r0 leads in the one epoch, r1 follows in the other, and no answer is seen."""
    facts = {"r0 leads": "yes", "r1 leads": "no"}
    facts |= {f"r{replica} epoch": str(epoch) for replica, epoch in enumerate(epochs)}
    seen = StepSeen(1, call, "told", {**facts, "r1 on its way": "answer"}, facts)
    return known_difference(seen, release) is not None


def test_a_known_difference_is_of_some_releases_and_of_one_kind() -> None:
    fetched = "LeaderFetch(follower=1)"

    assert is_known(fetched, (0, 1), NEW)
    assert not is_known(fetched, (1, 1), NEW)
    assert not is_known("Learn(replica=1)", (0, 1), NEW)
    assert not is_known(fetched, (0, 1), kafka_release("2.8.2"))
    assert not is_known(fetched, (0, 1), kafka_release("0.11.0.3"))
    assert len({known.name for known in KNOWN}) == len(KNOWN)


@pytest.mark.parametrize(
    ("release", "carried", "is_known"),
    [("2.1.1", 0, True), ("2.1.1", 1, False), ("2.8.2", 0, False)],
)
def test_a_fetch_that_outlived_its_sender_may_be_the_first_of_a_session(
    release: str, carried: int, is_known: bool
) -> None:
    facts = {"r0 leads": "yes", "r0 epoch": "1", "r0 HW": "1", ISR: "r0 r1"}
    shows = facts | {"r0 HW": "0", ISR: "r0"}
    seen = StepSeen(1, "StrayFetch(follower=1)", "told", facts, shows, differences(facts, shows))
    seen.stray_epoch = carried

    assert (known_difference(seen, kafka_release(release)) is not None) is is_known


@pytest.mark.parametrize(
    ("release", "shown", "is_known"),
    [
        ("2.0.1", "1 from 0, 2 from 2", True),
        ("2.1.1", "1 from 0, 2 from 2", True),
        ("2.1.1", "2 from 2", False),
        ("2.1.1", "1 from 0, 2 from 0", False),
        ("2.1.1", "1 from 0, 3 from 2", False),
        ("2.1.1", "empty", False),
        ("2.8.2", "1 from 0, 2 from 2", False),
    ],
)
def test_an_entry_of_an_epoch_cache_may_start_at_its_last_record(
    release: str, shown: str, is_known: bool
) -> None:
    facts = {"r1 epoch cache": "1 from 0, 2 from 1", "r1 LEO": "3"}
    shows = facts | {"r1 epoch cache": shown}
    other = shows | {"r1 LEO": "2"}

    def known(after: Facts, call: str = "RecvFetch(follower=1)") -> bool:
        seen = StepSeen(1, call, "told", facts, after, differences(facts, after))
        return known_difference(seen, kafka_release(release)) is not None

    assert known(shows) is is_known
    assert not known(other)
    assert not known(shows, "Learn(replica=1)")


@pytest.mark.parametrize(
    ("up", "isr", "shown", "is_known"),
    [
        ("up", "r0", "0", True),
        ("down", "r0", "0", False),
        ("up", "r0 r1", "0", False),
        ("up", "r0", "2", False),
    ],
)
def test_a_leader_may_wait_for_a_replica_that_caught_up_lately(
    up: str, isr: str, shown: str, is_known: bool
) -> None:
    facts = {"r0 is": "up", "r1 is": up, ISR: isr, "r0 HW": "1", "acknowledged": "m1"}
    shows = facts | {"r0 HW": shown, "acknowledged": "none"}
    seen = StepSeen(1, "Produce(leader=0)", "told", facts, shows, differences(facts, shows))
    other = StepSeen(1, "Produce(leader=0)", "told", facts | {"r0 LEO": "1"}, {}, [])
    other.differences = differences(other.model, shows | {"r0 LEO": "2"})

    assert (known_difference(seen, NEW) is not None) is is_known
    assert known_difference(other, NEW) is None


class Fields:
    """Grounds whose clusters only pretend; it counts them."""

    def __init__(self, made: Any, release: KafkaRelease, deviates: Deviation) -> None:
        self.made = made
        self.release = release
        self.deviates = deviates
        self.clusters: list[tuple[int, int]] = []
        self.walk = Grounds.walk.__get__(self)
        self._topics = 0
        self._report = lambda line: None

    @contextmanager
    def cluster(self, replicas: int, lag_ms: int) -> Iterator[Any]:
        self.clusters.append((replicas, lag_ms))
        yield self.made(self.release, self.deviates)


def how(seed: int = 1, steps: int = 10**6) -> Round:
    """Walks of at most ten steps, until so many looks at the clock."""
    left = iter([False] * steps)
    return Round(
        steps_max=10,
        seed=seed,
        announce=lambda line: None,
        keep=lambda question, walk: None,
        is_over=lambda: next(left, True),
    )


def conformed(fields: Any, *, walks: int) -> Conformance:
    found = begin(fields.release, [CRASHES])
    walk_by_chance(fields, found, walks, how())
    return found


def test_walks_share_a_cluster_with_a_topic_each(pretended: Any) -> None:
    fields = Fields(pretended, OLD, lambda name, facts: None)
    found = conformed(fields, walks=4)

    assert fields.clusters == [(2, NO_LAG_MS)]
    assert len(found.tallied[0].walks) == 4
    assert found.steps > 30
    assert found.disagreements == []


def test_a_disagreement_ends_its_cluster_and_the_walks_go_on(pretended: Any) -> None:
    fields = Fields(
        pretended, OLD, lambda name, facts: {"r0 LEO": "9"} if name == "Produce" else None
    )
    found = conformed(fields, walks=4)

    assert len(found.disagreements) > 1
    assert len(fields.clusters) > len(found.disagreements) - 1
    assert len(found.tallied[0].walks) == 4
    assert "r0 LEO: 1 in the model, 9 in Kafka" in found.disagreements[0].reason


def test_a_known_difference_ends_its_walk_and_not_its_cluster(pretended: Any) -> None:
    def deviates(name: str, facts: Facts) -> Mapping[str, str] | None:
        leading = [each for each in ("r0", "r1") if facts.get(f"{each} leads") == "yes"]
        if name != "LeaderFetch" or len(leading) != 1:
            return None
        [leader], [follower] = leading, {"r0", "r1"} - set(leading)
        if facts.get(f"{leader} epoch") == facts.get(f"{follower} epoch"):
            return None
        return {f"{follower} on its way": "an error"}

    fields = Fields(pretended, NEW, deviates)
    found = conformed(fields, walks=20)
    [tally] = found.tallied

    assert fields.clusters == [(2, NO_LAG_MS), (2, LAG_MS)]
    assert found.disagreements == []
    known = [each for each in tally.walks if each.difference]
    assert {each.difference for each in known} == {"first-fetch-is-fenced"}
    assert tally.tried.total() == tally.compared.total() + len(known)


def aimed(fields: Any, how: Round, circumstances: Circumstances = FEWER) -> Conformance:
    found = begin(fields.release, [circumstances])
    [tally] = found.tallied
    tally.plan = plan_goals(
        tally.problem, fields.release, states_max=10**6, announce=lambda line: None
    )
    walk_to_outcomes(fields, found, how)
    return found


def assert_every_outcome_is_walked_to(
    release: KafkaRelease, pretended: Any, circumstances: Circumstances, least: int
) -> None:
    fields = Fields(pretended, release, lambda name, facts: None)
    [tally] = aimed(fields, how(), circumstances).tallied

    assert tally.plan is not None
    assert tally.plan.complete
    assert set(tally.plan.ways) == set(tally.compared)
    assert not set(tally.plan.unsteerable) & set(tally.compared)
    assert len(tally.compared) > least
    # One walk goes from outcome to outcome.
    assert len(tally.walks) < len(tally.compared) / 2
    assert not tally.missed
    assert fields.clusters == [(2, NO_LAG_MS), (2, LAG_MS)]


@pytest.mark.parametrize("release", [OLD, NEW])
def test_every_outcome_that_can_be_had_is_walked_to(release: KafkaRelease, pretended: Any) -> None:
    assert_every_outcome_is_walked_to(release, pretended, FEWER, 30)


def test_an_outcome_that_brokers_do_not_show_is_given_up(pretended: Any) -> None:
    problem = NotHeld("it did not wait")
    fields = Fields(
        pretended, OLD, lambda name, facts: problem if name == "Checkpoint" and not facts else None
    )
    [tally] = aimed(fields, how()).tallied
    assert tally.plan is not None
    missing = set(tally.plan.ways) - set(tally.compared)

    assert ("Checkpoint", ("checkpoint+",)) in missing
    assert set(tally.missed.values()) == {TRIES_MAX}
    assert set(tally.why_missed.values()) == {"it did not wait"}


def test_no_step_begins_when_time_is_up(pretended: Any) -> None:
    fields = Fields(pretended, OLD, lambda name, facts: None)
    [tally] = aimed(fields, how(steps=20)).tallied

    assert 0 < tally.compared.total() < 20
    assert not tally.missed


def test_walks_that_were_walked_before_are_not_walked_again(pretended: Any) -> None:
    fields = Fields(pretended, OLD, lambda name, facts: None)
    whole = conformed(fields, walks=4)
    half = conformed(fields, walks=2)
    walk_by_chance(fields, half, 4, how())  # type: ignore[arg-type]
    walk_by_chance(fields, half, 4, how())  # type: ignore[arg-type]

    assert [(each.kind, each.number) for each in half.walks] == [
        (CHANCE, number) for number in range(1, 5)
    ]
    assert half.tallied[0].compared == whole.tallied[0].compared


def test_steps_of_a_file_are_taken_as_they_are(pretended: Any) -> None:
    fields = Fields(pretended, OLD, lambda name, facts: None)
    found = begin(OLD, [CRASHES])
    walk_along(fields, found, steps_of(*WROTE), how())  # type: ignore[arg-type]

    assert found.steps == min(len(WROTE), 10)


def test_walks_that_need_the_same_cluster_follow_each_other() -> None:
    planned = plan(CIRCUMSTANCES, 40)
    clusters = [each.cluster for each in planned]
    changes = sum(one != other for one, other in pairwise(clusters))

    assert sorted(each.number for each in planned) == list(range(1, 41))
    assert changes == len(set(clusters)) - 1
    assert LAG_MS in {each.lag_ms for each in planned}
    assert grounds.LAG_EVERY > 1


def test_topics_carry_what_the_operator_has_set(pretended: Any) -> None:
    disks = next(each for each in CIRCUMSTANCES if each.name == "disks")

    assert disks.topic_settings == {
        "min.insync.replicas": "2",
        "unclean.leader.election.enable": "true",
    }
    assert CRASHES.topic_settings["unclean.leader.election.enable"] == "false"
