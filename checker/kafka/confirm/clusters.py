"""The cluster that a course needs: brokers, timeouts and settings."""

from __future__ import annotations

from dataclasses import dataclass

from waterline.checker.kafka.confirm.brokers import BrokerSettings
from waterline.checker.kafka.confirm.course import Course
from waterline.checker.kafka.confirm.stepping import FETCH_WAIT_MS, LAG_MS, NEEDS_LAG, NO_LAG_MS
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
