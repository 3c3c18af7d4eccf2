"""Stories and diagrams of recorded traces."""

from __future__ import annotations

from functools import cache

from tests.support.confirmed_traces import confirmed_in
from waterline.checker.analysis.compare.comparison import Comparison, compare_models
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.narrative.story import Story, story_of
from waterline.checker.report.pages.sequence import Sequence
from waterline.checker.report.pages.trace_sequence import sequence_of

LOSS = "hw-no_committed_loss-2r2n2e.json"
DIVERGENCE = "hw-no_divergence_below_hw-2r2n2e.json"
KIP_279 = "scenarios/kip-279.json"
C21 = "scenarios/stale-remote-leo.json"


@cache
def story(name: str) -> Story:
    return story_of(confirmed_in(name).finding)


@cache
def sequence(name: str) -> Sequence:
    return sequence_of(story(name))


def beside(name: str, version: str) -> Comparison:
    """A trace on record beside its choices under another version."""
    found = confirmed_in(name)
    trace = found.finding.replayed.trace
    other = MESSAGE.problem(version, trace.environment, [trace.invariant])
    return compare_models(found.problem, found.finding.replayed, other)
