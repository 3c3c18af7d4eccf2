"""A corpus: paths as JSON lines, to be committed and replayed without the checker.

The first line is the head: model, protocol, bounds, cover. Each line after it is a path: the
initial state, then the steps with their arguments and the fields that each has changed. Fields of a
model of one's own are plain data (`Narration.values`); Kafka's are those of other formats.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.checker.covering.paths import Path, shortest_path
from waterline.checker.covering.state_graph import StateGraph
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model

FORMAT = "waterline.paths"
Values = Callable[[State], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class PathRecord:
    """A path in a model where it is real: its states, and its calls with named arguments."""

    states: tuple[Mapping[str, Any], ...]
    calls: tuple[tuple[str, Mapping[str, Any]], ...]


def record_path(graph: StateGraph, path: Path, values: Values) -> PathRecord:
    """The states and calls of a path. Raises `BadEnvironment` where no bounds allow it.

    Of an abstraction it is made concrete.
    """
    model = graph.problem.model
    number = graph.initial.tolist().index(path.start)
    calls = [graph.call(edge) for edge in path.edges]
    state = graph.state(path.start)
    if model.concretise is not None:
        concrete, translated = model.concretise(number, calls)
        model, calls = concrete, list(translated)
        state = model.initial[min(number, len(model.initial) - 1)]
    values = model.narration.values or values
    states, named = [values(state)], []
    for name, arguments in calls:
        action = model.action(name)
        state = model.apply(state, action, arguments)
        states.append(values(state))
        named.append((name, _arguments(model, name, arguments)))
    return PathRecord(tuple(states), tuple(named))


def _arguments(model: Model, name: str, arguments: Any) -> Mapping[str, Any]:
    if model.narration.arguments is not None:
        return model.narration.arguments(name, arguments)
    return dict(model.action(name).name_arguments(arguments))


def possible(graph: StateGraph, paths: Sequence[Path], values: Values) -> Iterator[PathRecord]:
    """The paths recorded; one that needs more crashes, epochs or records than a model can have is
    cut in two.
    """
    left = list(reversed(paths))
    while left:
        path = left.pop()
        try:
            yield record_path(graph, path, values)
        except BadEnvironment:
            middle = (len(path.edges) + 1) // 2
            way = shortest_path(graph, int(graph.source[path.edges[middle]]))
            rest = Path(way.start, (*way.edges, *path.edges[middle:]))
            if len(rest.edges) >= len(path.edges):
                raise
            left += [rest, Path(path.start, path.edges[:middle])]


def corpus_lines(
    model: Model, paths: Sequence[PathRecord], head: Mapping[str, Any]
) -> Iterator[str]:
    """The lines of a corpus; `head` says which cover it is."""
    options = {name: value for name, value in model.options.items() if name != "sha256"}
    first = {
        "format": FORMAT,
        "model": model.name,
        "protocol": model.version,
        "bounds": options,
        **head,
    }
    yield _line(first)
    for number, path in enumerate(paths, 1):
        before = path.states[0]
        steps = []
        for (name, given), after in zip(path.calls, path.states[1:], strict=True):
            changed = {field: value for field, value in after.items() if value != before[field]}
            steps.append({"action": name, "arguments": given, "after": changed})
            before = after
        yield _line({"path": number, "initial": path.states[0], "steps": steps})


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, default=sorted) + "\n"
