"""Search of one window of a long history: its final states, and the paths to them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from waterline.checker.kafka.logs.fitting import Node, Product, Queue
from waterline.checker.kafka.logs.observer import Positions, Refused
from waterline.checker.kafka.logs.settled import has_base
from waterline.checker.kafka.logs.successors import Successor
from waterline.checker.kafka.logs.windows import Window
from waterline.checker.problem.packed_rows import StateWords
from waterline.model.core.state import State
from waterline.model.core.transition_system import Call

_SHARES = 4
"""Minimum number of positions of the lines among which the ends are shared."""


@dataclass(slots=True, kw_only=True)
class Explored:
    """The outcome of one window. `is_whole`: all ends within its bounds were found."""

    window: Window
    ends: list[Node] = field(default_factory=list)
    states: int = 0
    seconds: float = 0.0
    is_whole: bool = False
    starts: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    longest: Node | None = None
    refusals: Counter[Refused] = field(default_factory=Counter)


def explore(
    window: Window,
    starts: Sequence[Node],
    *,
    loses: bool,
    plain: bool,
    states_max: int,
    until: float,
    ends_max: int,
) -> Explored:
    """The ends of a window: nodes behind the decision after it, in the last all that fit."""
    began = time.monotonic()
    found = Explored(window=window, starts=len(starts))
    product = Product(window.model, window.history, plain=plain)
    first = [node for node in starts if loses or not node.lost]
    queue = Queue(product, first, loses=loses)
    search = _Search(found, product, queue, loses=loses, share=ends_max // _SHARES)
    while search.has_more:
        is_spent = found.states >= states_max or time.monotonic() > until
        if is_spent or len(search.ends) >= ends_max or search.has_the_wanted:
            break
        search.look_at(search.next_node())
    else:
        found.is_whole = True
    found.ends = sorted(
        search.ends.values(), key=lambda n: (n.lost is not loses, search.queue.promise(n))
    )
    found.seconds = time.monotonic() - began
    return found


class _Search:
    """One search, node by node."""

    def __init__(
        self, found: Explored, product: Product, queue: Queue, *, loses: bool, share: int
    ) -> None:
        self.queue = queue
        self.ends: dict[tuple[StateWords, Positions, bool], Node] = {}
        self.has_the_wanted = False
        """True if the last window has an end of the wanted kind: with a loss, or without."""
        self._found, self._product, self._loses = found, product, loses
        self._best = -1
        self._share = share
        self._ends_at: Counter[Positions] = Counter()
        self._later: list[Node] = []

    @property
    def has_more(self) -> bool:
        """True if a node is left to look at."""
        return bool(self.queue) or bool(self._later)

    def next_node(self) -> Node:
        """Return the most promising node; one whose lines have enough ends only as a last resort.

        Nodes that have missed a line are many and near the end; they must not hide the others.
        """
        while self.queue:
            node = self.queue.pop()
            if self._ends_at[node.positions[:-1]] < self._share:
                return node
            self._later.append(node)
        return self._later.pop()

    def look_at(self, node: Node) -> None:
        """Add a node's successors: ends of the window, or further nodes to look at."""
        found, window = self._found, self._found.window
        found.states += 1
        before = State(window.model.layout, node.words)
        if window.boundaries[0] > 0 and not has_base(before):
            found.left_out["something falls below the settled records"] += 1
            return
        behind = sum(node.positions[:-1])
        if behind > self._best:
            self._best, found.longest, found.refusals = behind, node, Counter()
        if window.is_last and self._product.observer.is_over(node.positions):
            self.ends[node.words, node.positions, node.lost] = node
            self.has_the_wanted = node.lost is self._loses
            return
        for made in self._product.successors.of(node.words):
            call, reached = self._product.after(node, before, made)
            if isinstance(reached, Refused):
                self._refuse(reached, behind)
                continue
            for positions in reached:
                self._reach(node, call, made, positions, behind)

    def _reach(
        self, node: Node, call: Call, made: Successor, positions: Positions, behind: int
    ) -> None:
        window = self._found.window
        epoch = State(window.model.layout, made.words).epoch
        if not window.has_ended(epoch, positions):
            self._refuse(self.queue.add(node, call, made, positions), behind)
            return
        lost = node.lost or made.loses
        if self._loses or not lost:
            end = Node(made.words, positions, lost, node, call, node.steps + 1)
            if self.ends.setdefault((made.words, positions, lost), end) is end:
                self._ends_at[positions[:-1]] += 1

    def _refuse(self, refused: Refused | None, behind: int) -> None:
        if refused is not None and behind == self._best and refused.replica >= 0:
            self._found.refusals[refused] += 1


def root_of(node: Node) -> Node:
    """The node that a search began with."""
    while node.parent is not None:
        node = node.parent
    return node
