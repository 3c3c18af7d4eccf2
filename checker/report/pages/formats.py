"""Table of formats that a trace converts to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from waterline.checker.problem.problem import Problem
from waterline.checker.report.pages.mermaid import to_mermaid
from waterline.checker.report.pages.surroundings import (
    DISTANCE,
    STATES_MAX,
    surroundings,
    to_dot,
    to_graphml,
)
from waterline.checker.report.pages.trace_sequence import sequence_in
from waterline.checker.traces.finding import Finding
from waterline.checker.traces.recording import record_trace
from waterline.counterexamples import to_json
from waterline.counterexamples.formats import Recording, to_itf, to_tlc

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A confirmed counterexample to be converted, and how much of a graph is wanted around it."""

    problem: Problem
    finding: Finding
    distance: int = DISTANCE
    states_max: int = STATES_MAX


def _recording(given: Converted) -> Recording:
    replayed = given.finding.replayed
    return record_trace(given.problem.model, replayed.trace, replayed.states)


def _svg(given: Converted) -> str:
    from waterline.checker.report.pages.drawing import to_svg  # noqa: PLC0415 - loads Jinja

    return to_svg(sequence_in(given.finding))


def _markdown(given: Converted) -> str:
    from waterline.checker.report.pages.markdown import to_markdown  # noqa: PLC0415 - as above

    return to_markdown(given.problem, given.finding)


def _html(given: Converted) -> str:
    from waterline.checker.report.pages.report import finding_page  # noqa: PLC0415 - as above

    return finding_page(given.problem, given.finding)


def _graph(given: Converted) -> networkx.MultiDiGraph[Any]:
    return surroundings(
        given.finding.replayed,
        given.problem.model,
        distance=given.distance,
        states_max=given.states_max,
    )


FORMATS: Mapping[str, Callable[[Converted], str]] = {
    "json": lambda given: to_json(given.finding.replayed.trace),
    "itf": lambda given: to_itf(_recording(given)),
    "tlc": lambda given: to_tlc(_recording(given)),
    "mermaid": lambda given: to_mermaid(sequence_in(given.finding)),
    "svg": _svg,
    "html": _html,
    "markdown": _markdown,
    "dot": lambda given: to_dot(_graph(given)),
    "graphml": lambda given: to_graphml(_graph(given)),
}
"""Writers by the name that `waterline convert --to` takes."""
