"""Stories of the traces on record, and of traces made here."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from waterline.checker.kafka.families import family_of
from waterline.checker.kafka.narrative.story import Story, story_of
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import Trace, read_trace

TRACES = Path(__file__).parent.parent.parent / "examples" / "traces"
LOSS = TRACES / "hw-no_committed_loss-2r2n2e.json"
C21 = TRACES / "scenarios" / "stale-remote-leo.json"
KIP_279 = TRACES / "scenarios" / "kip-279.json"


@cache
def story(path: Path) -> Story:
    """The story of a trace on record."""
    return story_of_trace(read_trace(path))


def story_of_trace(trace: Trace) -> Story:
    """The story of a trace that breaks its claim."""
    problem = family_of(trace.model).problem(trace.version, trace.environment, [trace.invariant])
    claim = next(claim for claim in problem.claims if problem.is_asked(claim))
    return story_of(confirm_trace(trace, problem.model, claim))
