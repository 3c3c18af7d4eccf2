"""Complete graph of a problem: its search, then every step out of every state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from waterline.checker.compiler.kernel import canonicalise
from waterline.checker.compiler.origins import call_of
from waterline.checker.graph.adjacency import Mask, Numbers
from waterline.checker.graph.edges import Index, edges_of, rows_in_order
from waterline.checker.liveness.space import NotExplored
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.packed_rows import Rows, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.expander import initial_rows
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.result import Budgets
from waterline.checker.search.rule_errors import explain_fault
from waterline.checker.search.search import SearchFault, search
from waterline.model.core.errors import BadEnvironment, did_you_mean
from waterline.model.core.state import State
from waterline.model.core.transition_system import Arguments

if TYPE_CHECKING:
    import networkx

STATES_MAX = 2_000_000
"""Most states of a graph, unless more are allowed."""


class NoGraph(Refused, ValueError):
    """A problem has no graph in memory."""


@dataclass(frozen=True)
class StateGraph:
    """Graph of a problem. States are numbered by depth and then by their packed words.

    `initial` are the numbers of the initial states. Edge e takes `step[e]`, a number of
    `checker.compiler.origins`, from `source[e]` to `target[e]`; edges are sorted by source and then
    by step.
    """

    problem: Problem
    rows: Rows
    depth: Numbers
    initial: Numbers
    source: Numbers
    target: Numbers
    step: Numbers

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def edges(self) -> int:
        """Number of edges."""
        return len(self.source)

    def state(self, number: int) -> State:
        """The packed state of a number."""
        return State(self.problem.model.layout, state_words(self.rows[number]))

    def call(self, edge: int) -> tuple[str, Arguments]:
        """Return an edge's action and its arguments, as the checker counts them."""
        return self._calls[int(self.step[edge])]

    @cached_property
    def _calls(self) -> dict[int, tuple[str, Arguments]]:
        model = self.problem.model
        return {step: call_of(model, step) for step in np.unique(self.step).tolist()}

    def to_networkx(
        self,
        state: Callable[[int], Mapping[str, Any]],
        step: Callable[[int], Mapping[str, Any]],
    ) -> networkx.MultiDiGraph[Any]:
        """The graph with attributes of each node and of each edge, by their numbers."""
        import networkx as nx  # noqa: PLC0415 - slow to import, and rarely wanted

        model = self.problem.model
        made: networkx.MultiDiGraph[Any] = nx.MultiDiGraph(model=model.name, version=model.version)
        for number, depth in enumerate(self.depth.tolist()):
            made.add_node(number, depth=depth, **state(number))
        for edge, ends in enumerate(zip(self.source.tolist(), self.target.tolist(), strict=True)):
            made.add_edge(*ends, **step(edge))
        return made

    def representatives(self, sort: str) -> Mask:
        """Mark the states that stand for all that differ from them in the names of a sort alone.

        Raises `BadEnvironment` for a sort that the model does not have, or whose names are not
        alike.
        """
        family = self.problem.family
        symmetries = {} if family is None else family.symmetries
        if sort not in symmetries:
            raise BadEnvironment(
                f"{self.problem.model.version} has no sort {sort!r}{did_you_mean(sort, symmetries)}"
            )
        rows = self.rows.copy()
        canonicalise(replace(self.problem, symmetry=symmetries[sort]), rows)
        alike: Mask = (rows == self.rows).all(axis=1)
        return alike


def graph_of(
    problem: Problem, *, threads: int = 0, states_max: int = STATES_MAX, limit: str = ""
) -> StateGraph:
    """Explore every state, whatever the claims say. Raises `NoGraph`, and what a rule raises.

    `limit`: the option that allows more states.
    """
    if problem.symmetry.sorts:
        raise NoGraph(
            "steps between states that stand for others are no steps of the model; leave out the "
            "symmetry, and choose paths up to that sort"
        )
    bare = replace(problem, invariants=(), properties=(), reachable=(), behaviours=(), asked=None)
    prepare(bare)
    engine = engine_for(bare, EngineChoice(name="local", threads=threads))
    with closing(engine):
        try:
            result = search(bare, engine, budgets=Budgets(max_states=states_max + 1))
        except SearchFault as fault:
            raise explain_fault(bare, fault) from None
        if result.interrupted:
            raise KeyboardInterrupt
        if not result.complete or result.distinct > states_max:
            raise NoGraph(
                f"there are more than {states_max:,} states, too many for a graph; lower the bounds"
                + (f" or raise {limit}" if limit else "")
            )
        depths = [level.depth for level in result.levels]
        levels = [rows_in_order(list(engine.over_level(depth, np.copy))) for depth in depths]
    rows = np.ascontiguousarray(np.concatenate(levels))
    depth = np.repeat(np.arange(len(levels), dtype=np.int32), list(map(len, levels)))
    initial = Index(rows).numbers_of(initial_rows(bare))
    return StateGraph(bare, rows, depth, initial, *edges_of(bare, rows, _require_none))


def _require_none(outside: Rows) -> None:
    if len(outside):
        raise NotExplored("a step leads out of the states that were explored")
