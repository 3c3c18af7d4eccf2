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
from waterline.counterexamples import to_json
from waterline.counterexamples.formats import Value, record, to_itf, to_tlc
from waterline.model.core.layout import Field
from waterline.model.core.renaming import Holds, Naming, Sort
from waterline.model.core.state import State, as_dict

if TYPE_CHECKING:
    import networkx

_UNNAMED = Naming()


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """A confirmed counterexample to be converted, and how much of a graph is wanted around it."""

    problem: Problem
    finding: Finding
    distance: int = DISTANCE
    states_max: int = STATES_MAX


def _json(given: Converted) -> str:
    return to_json(given.finding.replayed.trace)


def _itf(given: Converted) -> str:
    return to_itf(record(given.finding.replayed, values_of))


def _tlc(given: Converted) -> str:
    return to_tlc(record(given.finding.replayed, values_of))


def _mermaid(given: Converted) -> str:
    return to_mermaid(sequence_in(given.finding))


def _svg(given: Converted) -> str:
    from waterline.checker.report.pages.drawing import to_svg  # noqa: PLC0415 - loads Jinja

    return to_svg(sequence_in(given.finding))


def _markdown(given: Converted) -> str:
    from waterline.checker.report.pages.markdown import to_markdown  # noqa: PLC0415 - as above

    return to_markdown(given.problem, given.finding)


def _html(given: Converted) -> str:
    from waterline.checker.report.pages.report import finding_page  # noqa: PLC0415 - as above

    return finding_page(given.problem, given.finding)


def _dot(given: Converted) -> str:
    return to_dot(_graph(given))


def _graphml(given: Converted) -> str:
    return to_graphml(_graph(given))


def _graph(given: Converted) -> networkx.MultiDiGraph[Any]:
    return surroundings(
        given.finding.replayed,
        given.problem.model,
        distance=given.distance,
        states_max=given.states_max,
    )


FORMATS: Mapping[str, Callable[[Converted], str]] = {
    "json": _json,
    "itf": _itf,
    "tlc": _tlc,
    "mermaid": _mermaid,
    "svg": _svg,
    "html": _html,
    "markdown": _markdown,
    "dot": _dot,
    "graphml": _graphml,
}
"""Writers by the name that `waterline convert --to` takes."""


def values_of(state: State) -> dict[str, Value]:
    """Every field by name, in the order of their declaration."""
    found = as_dict(state)
    return {field.name: _value(field, found[field.name]) for field in state.layout.fields}


def _value(field: Field, held: Any) -> Value:
    naming = field.naming or _UNNAMED
    if not field.shape:
        return _element(naming, held)
    rows = _function(naming.rows, held)
    if len(field.shape) == 1:
        return {key: _element(naming, value) for key, value in rows.items()}
    tables = {key: _function(naming.columns, row) for key, row in rows.items()}
    return {
        key: {column: _element(naming, value) for column, value in row.items()}
        for key, row in tables.items()
        if row
    }


def _function(sort: Sort | None, held: list[Any]) -> dict[int, Any]:
    """Return values by index, from 1 for such sorts; without those that are not alive."""
    first = 1 if sort is not None and sort.born else 0
    return {index: value for index, value in enumerate(held, start=first) if value is not None}


def _element(naming: Naming, held: int) -> Value:
    if naming.holds not in {Holds.REPLICAS, Holds.RECORDS}:
        return held
    first = 1 if naming.holds is Holds.RECORDS else 0
    return frozenset(bit + first for bit in range(held.bit_length()) if held >> bit & 1)
