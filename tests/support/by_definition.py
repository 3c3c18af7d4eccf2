"""What claims about behaviours come to, straight from their definitions, on graphs of a few nodes.

Nothing that judges in the checker is used. Where a behaviour can stay for ever is found by trying
every set of nodes, not only whole components: one strongly connected by its own edges, and fair.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import networkx as nx

from tests.support.labelled_graph import (
    BEYOND,
    FAIR,
    FREE,
    LABELS,
    NODES,
    Edges,
    labelled_problem,
)
from waterline.checker.problem.problem import Problem


@dataclass(frozen=True)
class Answer:
    """Whether a claim is violated, and then after how many steps at the least."""

    violated: bool
    steps: int | None = None


@dataclass(frozen=True)
class ByDefinition:
    """One graph: nodes and edges, where p and q are, where it begins.

    `weak` and `strong` are the actions that are fair, by name.
    """

    edges: Edges
    p: Collection[int]
    q: Collection[int]
    initial: Collection[int]
    weak: Collection[str] = ("Fair",)
    strong: Collection[str] = ()

    @property
    def weak_labels(self) -> list[int]:
        """The labels of weakly fair edges."""
        return [label for name in self.weak for label in _LABELS[name]]

    @property
    def strong_labels(self) -> list[int]:
        """The labels of strongly fair edges."""
        return [label for name in self.strong for label in _LABELS[name]]

    @property
    def fair_labels(self) -> list[int]:
        """The labels of all fair edges."""
        return sorted({*self.weak_labels, *self.strong_labels})

    def graph(self, labels: Collection[int], *, without: Collection[int] = ()) -> nx.DiGraph:
        """The edges of some labels between all nodes but some."""
        found = nx.DiGraph()
        found.add_nodes_from(node for node in range(NODES) if node not in without)
        found.add_edges_from(
            (node, target)
            for (node, label), target in self.edges.items()
            if label in labels and target != BEYOND and {node, target} <= set(found)
        )
        return found

    def distance(self, graph: nx.DiGraph, sources: Collection[int]) -> dict[int, int]:
        """How far each node is from the nearest of some nodes that are in the graph."""
        there = [node for node in sources if node in graph]
        if not there:
            return {}
        return dict(nx.multi_source_dijkstra_path_length(graph, there, weight=lambda *_: 1))

    @property
    def reachable(self) -> dict[int, int]:
        """How far each node is from the beginning."""
        return self.distance(self.graph(range(LABELS)), self.initial)

    def way_to(self, node: int) -> tuple[int, list[int]]:
        """Some shortest way to a node: where it begins, and the labels of its edges."""
        reached, labels = self.reachable, list[int]()
        while reached[node]:
            node, label = next(
                edge
                for edge, target in self.edges.items()
                if target == node and reached.get(edge[0]) == reached[node] - 1
            )
            labels.append(label)
        return node, labels[::-1]

    def enabled(self, node: int, label: int) -> bool:
        """Whether the edge changes something, or is cut."""
        return self.edges.get((node, label), node) != node

    def fair_sets(self, *, cut_counts: bool = True) -> Iterator[frozenset[int]]:
        """Every set of nodes without q in which a fair behaviour can stay for ever."""
        without_q = [node for node in {*self.initial, *self.touched} if node not in self.q]
        for size in range(1, len(without_q) + 1):
            for nodes in map(frozenset, itertools.combinations(without_q, size)):
                if self.is_connected(nodes) and self.is_fair(nodes, cut_counts=cut_counts):
                    yield nodes

    def is_fair(self, nodes: frozenset[int], *, cut_counts: bool) -> bool:
        """Whether a behaviour that takes all edges among these nodes for ever is fair."""
        return all(
            self.fair_to(nodes, label, cut_counts=cut_counts) for label in self.weak_labels
        ) and all(
            self.strongly_fair_to(nodes, label, cut_counts=cut_counts)
            for label in self.strong_labels
        )

    @property
    def touched(self) -> set[int]:
        """The nodes that an edge leaves or enters."""
        leaving = {node for node, _ in self.edges}
        return leaving | {target for target in self.edges.values() if target != BEYOND}

    def is_connected(self, nodes: frozenset[int]) -> bool:
        """Whether from each of the nodes every other can be reached without leaving them."""
        for begin in nodes:
            found, waiting = {begin}, [begin]
            while waiting:
                node = waiting.pop()
                for label in range(LABELS):
                    target = self.edges.get((node, label), BEYOND)
                    if target in nodes and target not in found:
                        found.add(target)
                        waiting.append(target)
            if found != nodes:
                return False
        return True

    def fair_to(self, nodes: frozenset[int], label: int, *, cut_counts: bool) -> bool:
        """Whether the label is taken among these nodes, or somewhere among them not enabled."""
        for node in nodes:
            target = self.edges.get((node, label))
            if not self.enabled(node, label) or (target == BEYOND and not cut_counts):
                return True
            if target in nodes:
                return True
        return False

    def strongly_fair_to(self, nodes: frozenset[int], label: int, *, cut_counts: bool) -> bool:
        """Whether the label is taken among these nodes, or nowhere among them enabled."""
        targets = {self.edges[node, label] for node in nodes if self.enabled(node, label)}
        if not cut_counts:
            targets -= {BEYOND}
        return not targets or bool(targets & nodes)

    def is_fair_round(self, steps: Sequence[tuple[int, int]]) -> bool:
        """Whether going round by these nodes and labels for ever is possible, and fair."""
        after = [node for node, _ in (*steps[1:], steps[0])]
        if [self.edges.get(step) for step in steps] != after:
            return False
        taken = {
            label for (node, label), target in zip(steps, after, strict=True) if node != target
        }
        enabled = {
            label: [self.enabled(node, label) for node, _ in steps] for label in self.fair_labels
        }
        return not any(
            label not in taken and all(enabled[label]) for label in self.weak_labels
        ) and not any(label not in taken and any(enabled[label]) for label in self.strong_labels)

    def liveness(self, pattern: str) -> Answer:
        """Whether it is violated, and after how many steps the fair part is reached first."""
        arrived = self.arrived(pattern)
        ends = [arrived[node] for node in self.staying if node in arrived]
        return Answer(bool(ends), min(ends, default=None))

    @cached_property
    def staying(self) -> set[int]:
        """The nodes of fair sets."""
        return {node for nodes in self.fair_sets() for node in nodes}

    @cached_property
    def perhaps_staying(self) -> set[int]:
        """The nodes of sets that are fair, or would be, were what is cut not enabled."""
        return {node for nodes in self.fair_sets(cut_counts=False) for node in nodes}

    def left_open(self, pattern: str) -> int:
        """In how many nodes one could stay for ever, were what is cut not enabled."""
        arrived = self.arrived(pattern)
        return len((self.perhaps_staying - self.staying) & set(arrived))

    def arrived(self, pattern: str) -> dict[int, int]:
        """After how many steps each node is reached in which one still waits."""
        reached = self.reachable
        waiting = self.graph(range(LABELS), without=self.q)
        if pattern == "eventually":
            arrived = self.distance(waiting, self.initial)
        else:
            begins = reached
            if pattern == "leads_to":
                begins = {node: d for node, d in reached.items() if node in self.p}
            arrived = {}
            for begin, depth in begins.items():
                for node, steps in self.distance(waiting, [begin]).items():
                    arrived[node] = min(arrived.get(node, depth + steps), depth + steps)
        return arrived

    def recovery(self, labels: Collection[int]) -> Answer:
        """Whether from some node of p no q, and no edge that is cut, can be reached."""
        graph = self.graph(labels)
        stuck = [
            depth
            for node, depth in self.reachable.items()
            if node in self.p
            and not any(
                each in self.q or any(self.edges.get((each, k)) == BEYOND for k in labels)
                for each in {node, *nx.descendants(graph, node)}
            )
        ]
        return Answer(bool(stuck), min(stuck, default=None))


_LABELS = {"Fair": range(FAIR), "Free": range(FAIR, FAIR + FREE)}


def a_graph(
    seed: int, *, weak: Collection[str] = ("Fair",), strong: Collection[str] = ()
) -> ByDefinition:
    """Some graph, always the same one."""
    dice = random.Random(seed)
    nodes = dice.randint(2, 6)
    edges = {}
    for node in range(nodes):
        for label in range(LABELS):
            if dice.random() < (0.45 if label < FAIR else 0.3):
                is_cut = dice.random() < 0.06
                edges[node, label] = BEYOND if is_cut else dice.randrange(nodes)
    return ByDefinition(
        edges,
        p=[node for node in range(nodes) if dice.random() < 0.5],
        q=[node for node in range(nodes) if dice.random() < 0.25],
        initial=dice.sample(range(nodes), dice.randint(1, 2)),
        weak=weak,
        strong=strong,
    )


def problem_of(graph: ByDefinition) -> Problem:
    """What a checker is asked of it."""
    return labelled_problem(
        graph.edges,
        p=graph.p,
        q=graph.q,
        initial=graph.initial,
        weak=graph.weak,
        strong=graph.strong,
    )
