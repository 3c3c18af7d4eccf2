"""Paths of a corpus as the harness takes them: who acts, and what the controller has decided."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.checker.covering.corpus import corpus_lines, possible
from waterline.checker.covering.paths import Path
from waterline.checker.covering.state_graph import StateGraph

Fields = Mapping[str, Any]
ACTORS = {
    **dict.fromkeys(("Produce", "ShrinkIsr"), "leader"),
    **dict.fromkeys(("Learn", "Crash", "Checkpoint"), "replica"),
    **dict.fromkeys(("SendFetch", "LeaderFetch", "RecvFetch", "OffsetForLeaderEpoch"), "follower"),
}
"""The argument that names the broker of an action."""
CONTROLLER_ALONE = ("Fence", "Move")
"""Actions that no broker sees before it learns of them."""
TAKEN = {*ACTORS, *CONTROLLER_ALONE, "Restart"}
"""Actions that the harness takes."""


@dataclass(frozen=True, slots=True)
class Course:
    """A path: its edges, its steps in words, the model's states, and the harness's line."""

    edges: tuple[int, ...]
    steps: tuple[str, ...]
    states: tuple[Fields, ...]
    line: str


def courses(graph: StateGraph, paths: Sequence[Path]) -> Iterator[Course]:
    """The paths, read from the lines of their corpus."""
    for recorded_path in possible(graph, paths):
        [_, line] = corpus_lines(graph.problem.model, [recorded_path], {})
        recorded = json.loads(line)
        states = [recorded["initial"]]
        steps = []
        for each in recorded["steps"]:
            after = {**states[-1], **each["after"]}
            steps.append(_step(each["action"], each["arguments"], states[-1], after))
            states.append(after)
        script = {"controller": _controller(states[0]), "steps": steps}
        words = tuple(_words(each["action"], each["arguments"]) for each in recorded["steps"])
        yield Course(recorded_path.path.edges, words, tuple(states), json.dumps(script))


def _words(action: str, arguments: Fields) -> str:
    return f"{action}({', '.join(f'{name}={value}' for name, value in arguments.items())})"


def _step(action: str, arguments: Fields, before: Fields, after: Fields) -> Fields:
    step: dict[str, Any] = {"action": action}
    if action in ACTORS:
        return step | {"broker": arguments[ACTORS[action]]}
    if _decision(before) != _decision(after):
        step["controller"] = _controller(after)
    return step | {"replica": arguments["replica"]}


def _decision(state: Fields) -> tuple[Any, ...]:
    return state["leader"], state["epoch"], state["isr"]


def _controller(state: Fields) -> Fields:
    return {"leader": state["leader"], "epoch": state["epoch"], "isr": state["isr"]}
