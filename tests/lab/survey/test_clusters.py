"""Clusters that replays share: what takes a new one, and what is given to a topic."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.survey import clusters as sharing
from lab.survey.clusters import SharedClusters
from tests.kafka.confirm.test_judging import course
from waterline.checker.kafka.confirm.course import Course
from waterline.checker.kafka.confirm.errors import BrokerFailed
from waterline.checker.kafka.confirm.jars import Site
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.confirm.replay import ClusterKind, kind_of
from waterline.checker.kafka.confirm.stage import StepFailed
from waterline.checker.kafka.confirm.stepping import FETCH_WAIT_MS, LAG_MS, NO_LAG_MS

OLD = kafka_release("0.10.2.2")


@dataclass
class Started:
    """What was started, and what topics began on it."""

    kinds: list[tuple[int, int]] = field(default_factory=list)
    topics: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    assigned: list[int] = field(default_factory=list)
    running: int = 0
    failing: int = 0
    """So many topics from now on cannot be begun."""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    noted = Started()

    @contextlib.contextmanager
    def staged(*_: Any, replicas: int, settings: Any, **__: Any) -> Iterator[object]:
        assert (settings.min_insync_replicas, settings.unclean_leader_election) == (1, False)
        noted.kinds.append((replicas, settings.lag_ms))
        noted.running += 1
        yield SimpleNamespace(brokers=SimpleNamespace(taken={}))
        noted.running -= 1

    def begin(stage: object, topic: str, settings: Mapping[str, str], assigned: int) -> None:
        if noted.failing:
            noted.failing -= 1
            raise StepFailed("r1 takes up epoch 0", "nothing")
        noted.topics.append((topic, settings))
        noted.assigned.append(assigned)

    monkeypatch.setattr(sharing, "start_stage", staged)
    monkeypatch.setattr(sharing, "begin", begin)
    return noted


@pytest.fixture
def clusters(tmp_path: Path, started: Started) -> Iterator[SharedClusters]:
    site = Site(OLD, [], tmp_path, lambda line: None, lambda line: None)
    with SharedClusters(site) as shared:
        yield shared
    assert started.running == 0


def of(name: str) -> Course:
    return course(name, OLD)


def test_a_cluster_is_as_large_and_as_patient_as_a_course_needs() -> None:
    assert kind_of(of("acks-1")) == ClusterKind(2, NO_LAG_MS, FETCH_WAIT_MS, 1)
    assert kind_of(of("zombie-follower")).replicas == 3
    assert kind_of(of("unclean-election")).lag_ms == LAG_MS
    assert kind_of(course("directory-move-loss", kafka_release("2.1.1"))).log_directories == 2
    assert kind_of(course("taken-directory", kafka_release("4.4.0"))).log_directories == 2


def test_courses_of_one_kind_share_a_cluster_with_a_topic_each(
    clusters: SharedClusters, started: Started
) -> None:
    first = clusters.stage(of("acks-1"))
    second = clusters.stage(of("acks-1"))

    assert first is second
    assert started.kinds == [(2, NO_LAG_MS)]
    assert [topic for topic, _ in started.topics] == ["entry-1", "entry-2"]
    assert started.topics[0][1]["min.insync.replicas"] == "1"


def test_another_kind_takes_another_cluster(clusters: SharedClusters, started: Started) -> None:
    clusters.stage(of("acks-1"))
    clusters.stage(of("unclean-election"))

    assert started.kinds == [(2, NO_LAG_MS), (2, LAG_MS)]
    assert started.running == 1
    assert started.topics[1][1]["unclean.leader.election.enable"] == "true"


def test_what_is_left_of_the_replay_before_takes_a_new_cluster(
    clusters: SharedClusters, started: Started
) -> None:
    clusters.stage(of("acks-1"))
    started.failing = 1
    clusters.stage(of("acks-1"))

    assert len(started.kinds) == 2
    assert started.running == 1


def test_a_cluster_of_which_a_directory_was_taken_is_not_used_again(
    clusters: SharedClusters, started: Started
) -> None:
    clusters.stage(of("acks-1")).brokers.taken[1] = Path("data-1")
    clusters.stage(of("acks-1"))

    assert len(started.kinds) == 2
    assert started.running == 1


def test_brokers_without_a_replica_are_named_at_the_start(
    clusters: SharedClusters, started: Started
) -> None:
    clusters.stage(course("removed-replica-in-elr", kafka_release("4.2.0:elr")))
    clusters.stage(of("acks-1"))

    assert started.assigned == [2, 0]
    assert started.kinds[0][0] == 3


def test_a_new_cluster_on_which_nothing_can_begin_has_failed(
    clusters: SharedClusters, started: Started
) -> None:
    started.failing = 1

    with pytest.raises(BrokerFailed, match="could not be set up: r1 takes up epoch 0"):
        clusters.stage(of("acks-1"))
    assert started.running == 0
