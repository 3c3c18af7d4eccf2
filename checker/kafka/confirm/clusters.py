"""Clusters that replays share: one at a time, started anew only where it must be.

What a topic can be given, min.insync.replicas and unclean.leader.election.enable, it is given for
each replay. Another number of brokers, or another timeout, takes another cluster.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import TracebackType

from waterline.checker.kafka.confirm.brokers import BrokerSettings
from waterline.checker.kafka.confirm.course import Course
from waterline.checker.kafka.confirm.errors import BrokerFailed, NoAnswer
from waterline.checker.kafka.confirm.site import Site
from waterline.checker.kafka.confirm.stage import Stage, StepFailed
from waterline.checker.kafka.confirm.staging import start_stage
from waterline.checker.kafka.confirm.stepping import FETCH_WAIT_MS, LAG_MS, NEEDS_LAG, NO_LAG_MS
from waterline.checker.kafka.confirm.topics import begin
from waterline.model.core.transition_system import Model

_MOVES_LOGS = frozenset({"DirectoryMove", "DirectoryTaken"})
"""Steps for which a broker has a second log directory."""


@dataclass(frozen=True, slots=True, order=True)
class ClusterKind:
    """Parameters that require a new cluster when they change. Times are in milliseconds."""

    replicas: int
    lag_ms: int
    fetch_wait_ms: int
    log_directories: int


def kind_of(course: Course) -> ClusterKind:
    """The cluster that a course needs."""
    needs_lag = any(moment.action in NEEDS_LAG for moment in course.replayed.moments)
    moves_logs = any(moment.action in _MOVES_LOGS for moment in course.replayed.moments)
    return ClusterKind(
        replicas=course.model.layout.sizes["replicas"],
        lag_ms=LAG_MS if needs_lag else NO_LAG_MS,
        fetch_wait_ms=0 if course.model.settings.high_watermark_before_fetch else FETCH_WAIT_MS,
        log_directories=2 if moves_logs else 1,
    )


def settings_of(course: Course) -> BrokerSettings:
    """Return the broker settings for one course alone."""
    kind, rules = kind_of(course), course.model.settings
    return BrokerSettings(
        min_insync_replicas=rules.min_insync_replicas,
        unclean_leader_election=rules.unclean_leader_election == 1,
        lag_ms=kind.lag_ms,
        fetch_wait_ms=kind.fetch_wait_ms,
        log_directories=kind.log_directories,
    )


def assigned_of(model: Model) -> int:
    """Return how many brokers have a replica at the start, 0 for all."""
    return int(str(model.options["assigned"]))


def _topic_settings(course: Course) -> Mapping[str, str]:
    settings = settings_of(course)
    return {
        "min.insync.replicas": str(settings.min_insync_replicas),
        "unclean.leader.election.enable": str(settings.unclean_leader_election).lower(),
    }


class SharedClusters:
    """A context manager; when it is left no process is. `stage` gives brokers for a course."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._kind: ClusterKind | None = None
        self._stage: Stage | None = None
        self._ending = contextlib.ExitStack()
        self._started = 0
        self._topics = 0

    def __enter__(self) -> SharedClusters:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def stage(self, course: Course) -> Stage:
        """Brokers on which nothing of an earlier replay is left. Raises `CannotConfirm`."""
        kind = kind_of(course)
        is_whole = self._stage is not None and not self._stage.brokers.taken
        if self._stage is not None and is_whole and self._kind == kind:
            try:
                self._begin(self._stage, course)
            except (StepFailed, NoAnswer, BrokerFailed):
                self.end()  # What was left of the replay before is in the way.
            else:
                return self._stage
        self.end()
        self._start(kind, course)
        assert self._stage is not None
        return self._stage

    def end(self) -> None:
        """End the cluster that runs, if one does."""
        self._stage = self._kind = None
        self._ending.close()

    def _start(self, kind: ClusterKind, course: Course) -> None:
        self._started += 1
        folder = self._site.folder / f"cluster-{self._started}"
        folder.mkdir()
        of_topics = replace(
            settings_of(course), min_insync_replicas=1, unclean_leader_election=False
        )
        stage = self._ending.enter_context(
            start_stage(
                self._site.release,
                self._site.jars,
                replicas=kind.replicas,
                settings=of_topics,
                folder=folder,
                announce=self._site.announce,
            )
        )
        try:
            self._begin(stage, course)
        except (StepFailed, NoAnswer) as problem:
            self.end()
            raise BrokerFailed(f"the topic could not be set up: {problem}") from None
        self._stage, self._kind = stage, kind

    def _begin(self, stage: Stage, course: Course) -> None:
        self._topics += 1
        begin(stage, f"entry-{self._topics}", _topic_settings(course), assigned_of(course.model))
