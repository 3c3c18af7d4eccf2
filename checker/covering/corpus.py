"""A corpus: paths as JSON lines, to be committed and replayed without the checker.

The first line is the head: model, protocol, bounds, cover. Each line after it is a path: the
initial state, then the steps with their arguments and the fields that each has changed; where it is
wanted, also the calls that are not enabled. Fields of a model of one's own are plain data
(`Narration.values`, rows as lists); Kafka's are those of other formats.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.checker.covering.paths import Path, shortest_path
from waterline.checker.covering.state_graph import StateGraph
from waterline.checker.traces.recording import named_arguments, record_trace
from waterline.counterexamples.formats import Recording, Value
from waterline.counterexamples.trace import NO_CLAIM, trace_of
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import State, as_json
from waterline.model.core.transition_system import Action, Arguments, Model

FORMAT = "waterline.paths"


@dataclass(frozen=True, slots=True)
class RecordedPath:
    """A path of the graph in a model where it is real, with its states as the model has them."""

    path: Path
    model: Model
    states: tuple[State, ...]
    recording: Recording


def record_path(graph: StateGraph, path: Path) -> RecordedPath:
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
        number = min(number, len(model.initial) - 1)
        state = model.initial[number]
    states = [state]
    for name, arguments in calls:
        states.append(model.apply(states[-1], model.action(name), arguments))
    trace = trace_of(model, NO_CLAIM, calls, initial=number)
    return RecordedPath(path, model, tuple(states), record_trace(model, trace, states))


def possible(graph: StateGraph, paths: Sequence[Path]) -> Iterator[RecordedPath]:
    """The paths recorded; one that needs more crashes, epochs or records than a model can have is
    cut in two.
    """
    left = list(reversed(paths))
    while left:
        path = left.pop()
        try:
            yield record_path(graph, path)
        except BadEnvironment:
            middle = (len(path.edges) + 1) // 2
            way = shortest_path(graph, int(graph.source[path.edges[middle]]))
            rest = Path(way.start, (*way.edges, *path.edges[middle:]))
            if len(rest.edges) >= len(path.edges):
                raise
            left += [rest, Path(path.start, path.edges[:middle])]


def corpus_lines(
    model: Model, paths: Sequence[RecordedPath], head: Mapping[str, Any], *, refused: bool = False
) -> Iterator[str]:
    """The lines of a corpus; `head` says which cover it is. `refused`: with `refused_calls`."""
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
        yield _line({"path": number, **_path(path, refused)})


def _path(path: RecordedPath, refused: bool) -> dict[str, Any]:
    """A path: the initial state, and what each step changes."""
    data, recording = _data_of(path.model), path.recording
    states = [data(state) for state in recording.states]
    asked = [
        {"refused": list(refused_calls(path.model, s))} if refused else {} for s in path.states
    ]
    before, steps = states[0], []
    for step, picks, after, denied in zip(
        recording.trace.steps, recording.picks, states[1:], asked[1:], strict=True
    ):
        changed = {field: value for field, value in after.items() if value != before[field]}
        steps.append({"action": step.action, "arguments": data(picks), "after": changed, **denied})
        before = after
    return {"initial": states[0], **asked[0], "steps": steps}


def refused_calls(model: Model, state: State) -> Iterator[dict[str, Any]]:
    """Each call that is not enabled in a state. Of one beyond a bound the model says nothing."""
    data = _data_of(model)
    for action in model.enabled_actions:
        for arguments in model.bindings(action):
            if _is_call(model, action, arguments) and not model.is_enabled(
                state, action, arguments
            ):
                named = named_arguments(model, action.name, arguments)
                yield {"action": action.name, "arguments": data(named)}


def _is_call(model: Model, action: Action, arguments: Arguments) -> bool:
    """False where an argument is an epoch that there is not: 0, or one above the highest."""
    for parameter, value in zip(action.parameters, arguments, strict=True):
        sort = None if parameter.held is None else parameter.held.sort
        if sort is None or not sort.ordered or sort.none is None:
            continue
        if not sort.none < value <= model.layout.sizes[sort.size]:
            return False
    return True


def _data_of(model: Model) -> Callable[[Mapping[str, Value]], dict[str, Any]]:
    """Values by name as JSON has them: rows of a user model are lists."""
    if model.narration.values is None:
        return dict
    return lambda values: {name: as_json(value) for name, value in values.items()}


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, default=sorted) + "\n"
