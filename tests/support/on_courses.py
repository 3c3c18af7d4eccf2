"""Courses by their definition, plainly: a model that takes the steps of courses and no others."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.labelled_graph import BEYOND, FAIR, FREE
from waterline.checker.analysis.explain.executions import Event
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Arguments, Model


@dataclass(frozen=True)
class Node:
    """A state, and which event may come next; it reads like the state."""

    state: State
    next_event: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.state, name)


class OnCourses:
    """A model, all steps of which are on a course: each event comes in its order, or not at all."""

    def __init__(self, model: Model, start: State, events: Sequence[Event], own: set[str]) -> None:
        self._model, self._events, self._own = model, events, own
        self.settings, self.enabled_actions = model.settings, model.enabled_actions
        self.bindings = model.bindings
        self.actions, self.finitely_often = model.actions, model.finitely_often
        self.initial = (Node(start, 0),)

    def _next(self, node: Node, action: Action, arguments: Arguments) -> int | None:
        def matches(event: Event) -> bool:
            return (event.action, event.actor) == (action.name, arguments[0])

        if action.name in self._own or any(e.again and matches(e) for e in self._events):
            return node.next_event
        for place in range(node.next_event, len(self._events)):
            if matches(self._events[place]):
                return place + 1
        return None

    def is_enabled(self, node: Node, action: Action, arguments: Arguments) -> bool:
        on_course = self._next(node, action, arguments) is not None
        return on_course and self._model.is_enabled(node.state, action, arguments)

    def exceeded_limit(self, node: Node, action: Action, arguments: Arguments) -> Any:
        return self._model.exceeded_limit(node.state, action, arguments)

    def apply(self, node: Node, action: Action, arguments: Arguments) -> Node:
        place = self._next(node, action, arguments)
        assert place is not None
        return Node(self._model.apply(node.state, action, arguments), place)


def a_graph(dice: random.Random) -> dict[tuple[int, int], int]:
    """The edges of a random graph of up to six nodes."""
    edges = {}
    nodes = dice.randint(2, 6)
    for node in range(nodes):
        for label in range(FAIR + FREE):
            if dice.random() < 0.4:
                edges[node, label] = BEYOND if dice.random() < 0.05 else dice.randrange(nodes)
    return edges
