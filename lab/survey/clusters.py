"""Clusters that replays share: one at a time, started anew only where it must be.

What a topic can be given, min.insync.replicas and unclean.leader.election.enable, it is given for
each replay. Another number of brokers, or another timeout, takes another cluster.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType

from waterline.checker.kafka.confirm.course import Course
from waterline.checker.kafka.confirm.errors import BrokerFailed, NoAnswer
from waterline.checker.kafka.confirm.jars import Site
from waterline.checker.kafka.confirm.replay import (
    ClusterKind,
    Confirmation,
    Judgement,
    assigned_of,
    kind_of,
    run_of,
    settings_of,
)
from waterline.checker.kafka.confirm.stage import Stage, StepFailed
from waterline.checker.kafka.confirm.staging import begin, start_stage


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


def confirm_among_others(course: Course, site: Site, clusters: SharedClusters) -> Confirmation:
    """Replay a course on brokers that have run other courses before. Raises `CannotConfirm`."""
    found = run_of(course, site).carried_out(clusters.stage(course))
    if found.judgement in {Judgement.REFUTED, Judgement.NOT_STEERABLE}:
        clusters.end()  # The state of these brokers is unknown.
    return found
