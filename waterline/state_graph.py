"""All states and transitions of a model, and paths that cover them.

    graph = waterline.graph(lease, clients=2)
    graph.states, graph.transitions          # how many
    graph.state(0), graph.step(17)           # as plain values
    paths = graph.paths(cover="transitions")

The arrays are those of the search; a state or a step becomes a plain value when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from waterline.checker.covering.covers import cover_graph
from waterline.checker.covering.paths import shortest_path
from waterline.checker.covering.state_graph import STATES_MAX, graph_of
from waterline.checker.mutants.guards import goals_of_guards
from waterline.checker.user_models.family import room_of
from waterline.checking import problem_of, rules_described
from waterline.models import Declares, Model, instance, model_of, value_of
from waterline.running import Step
from waterline.state import State, unpack
from waterline.trace import Trace

if TYPE_CHECKING:
    import networkx

    from waterline.checker.covering.paths import Path as Edges
    from waterline.checker.covering.state_graph import StateGraph
    from waterline.checker.graph.adjacency import Numbers

Cover = Literal["transitions", "states", "calls", "guards"]
LONGEST = 50
"""Most steps of a path, unless another number is given."""
_KEPT = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Every reachable state of a model within its bounds, and every step between them.

    States have numbers, by depth; transitions have, by the state that they leave. `depth` is that
    of each state, `initial` has the numbers of the initial ones; `source` and `target` have a state
    for each transition. All are arrays of NumPy.
    """

    model: Model
    _graph: StateGraph

    def __repr__(self) -> str:
        return f"<Graph of {self.model}: {self.states:,} states, {self.transitions:,} transitions>"

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self._graph)

    @property
    def transitions(self) -> int:
        """Number of transitions."""
        return self._graph.edges

    @property
    def depth(self) -> Numbers:
        """The depth of each state."""
        return self._graph.depth

    @property
    def initial(self) -> Numbers:
        """Numbers of the initial states."""
        return self._graph.initial

    @property
    def source(self) -> Numbers:
        """The state that each transition leaves."""
        return self._graph.source

    @property
    def target(self) -> Numbers:
        """The state that each transition enters."""
        return self._graph.target

    def state(self, number: int) -> State:
        """The state of a number. Raises `IndexError`."""
        if not 0 <= number < self.states:
            raise IndexError(f"there is no state {number}: they are 0 to {self.states - 1}")
        return self._state(number)

    def step(self, number: int) -> Step:
        """The step of a transition's number. Raises `IndexError`."""
        if not 0 <= number < self.transitions:
            last = self.transitions - 1
            raise IndexError(f"there is no transition {number}: they are 0 to {last}")
        name, counted = self._graph.call(number)
        action = self._actions[name]
        arguments = {
            argument: value_of(over, value)
            for (argument, over), value in zip(action.over, counted, strict=True)
        }
        before, after = int(self.source[number]), int(self.target[number])
        return Step(action.function, arguments, self._state(before), self._state(after))

    def transition(self, state: int, step: Step) -> int | None:
        """The transition by a step's action and arguments out of a state; None if there is none."""
        return self._by_call.get((state, step.name, tuple(step.arguments.values())))

    def paths(
        self,
        *,
        cover: Cover = "transitions",
        longest: int = LONGEST,
        up_to: str | None = None,
        optimal: bool = False,
    ) -> Paths:
        """Paths from initial states that together take every transition, in few steps.

        `cover` "states" enters every state instead, "calls" takes every action with each
        combination of arguments once, "guards" every action, and enters for each guard a state
        where it alone refuses a call. A path has at most `longest` steps, unless what it leads to
        is farther away. `up_to` is a sort whose names are alike: of transitions that differ in
        these names alone one is covered. `optimal` paths have the fewest steps in all, a path
        counting as one (needs SciPy, the extra `optimal`). Raises `ValueError`.
        """
        found = cover_graph(
            self._graph,
            cover,
            longest=longest,
            up_to=up_to,
            optimal=optimal,
            guards=goals_of_guards,
        )
        return Paths(self, cover, tuple(found))

    def shortest(self, state: int) -> Path:
        """A shortest path to a state."""
        return Path(self, shortest_path(self._graph, state))

    def to_networkx(self) -> networkx.MultiDiGraph[Any]:
        """The graph for NetworkX: a node has its `state`, an edge its `action` and `arguments`."""

        def attributes(number: int) -> dict[str, Any]:
            step = self.step(number)
            return {"action": step.name, "arguments": dict(step.arguments)}

        return self._graph.to_networkx(lambda number: {"state": self._state(number)}, attributes)

    @cached_property
    def _state(self) -> Callable[[int], State]:
        return lru_cache(maxsize=_KEPT)(lambda n: unpack(self.model, self._graph.state(n)))

    @cached_property
    def _actions(self) -> dict[str, Any]:
        return {action.name: action for action in self.model.actions}

    @cached_property
    def _by_call(self) -> dict[tuple[int, str, tuple[Any, ...]], int]:
        found = {}
        for number, source in enumerate(self.source.tolist()):
            name, counted = self._graph.call(number)
            over = (domain for _, domain in self._actions[name].over)
            given = tuple(value_of(each, n) for each, n in zip(over, counted, strict=True))
            found[source, name, given] = number
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Steps of a graph, one after the other, from an initial state."""

    graph: Graph
    _path: Edges

    def __repr__(self) -> str:
        return f"<Path: {', '.join(map(str, self)) or 'no step'}>"

    def __len__(self) -> int:
        return len(self._path.edges)

    def __iter__(self) -> Iterator[Step]:
        return map(self.graph.step, self._path.edges)

    @property
    def initial(self) -> State:
        """Where it begins."""
        return self.graph.state(self._path.start)

    @property
    def trace(self) -> Trace:
        """Its states and steps, as of a counterexample."""
        return Trace(self.initial, tuple(self))


@dataclass(frozen=True, eq=False, repr=False)
class Paths:
    """Paths that cover a graph: a sequence of `Path`."""

    graph: Graph
    cover: str
    _paths: tuple[Edges, ...]

    def __repr__(self) -> str:
        return f"<Paths: {len(self)} of {self.steps:,} steps, every one of {self.cover}>"

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, number: int) -> Path:
        return Path(self.graph, self._paths[number])

    def __iter__(self) -> Iterator[Path]:
        return (Path(self.graph, each) for each in self._paths)

    @property
    def steps(self) -> int:
        """Number of steps in all."""
        return sum(len(path.edges) for path in self._paths)


def graph(
    model: Model | Declares,
    /,
    *,
    unbounded: bool = False,
    max_states: int | None = None,
    **bounds: int | bool,
) -> Graph:
    """The graph of a model within its bounds, or of a function that declares one within these.

    `unbounded` as in `waterline.check`: its states then are those of the abstraction, with epochs
    and opaque values in their order alone. `max_states` is 2 million. Raises `BadProtocol`,
    `RuleRaised`, and `ValueError` where there are more states.
    """
    made = instance(model, **bounds) if bounds and not isinstance(model, Model) else model_of(model)
    if bounds and isinstance(model, Model):
        raise TypeError(f"{model} has its bounds already; give the function that declares it")
    with rules_described(made):
        problem = problem_of(made, (), "none", unbounded=unbounded, is_sent=False)
        found = graph_of(problem, states_max=max_states or STATES_MAX, limit="max_states")
    if unbounded:
        made = instance(made.function, **room_of(problem, made.bounds))
    return Graph(made, found)
