"""Search for a behaviour of the model that fits the lines of all brokers.

The search is best first: steps cost, faults cost more, and so do lines not yet written. If nothing
fits, it keeps the longest prefix and what was refused there. Everything without a line is free
within bounds: crashes, session ends, produced records, fetches. The bounds are raised in turn.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from waterline.checker.kafka.logs.history import History
from waterline.checker.kafka.logs.observer import (
    ALWAYS_LOOKED_AT,
    FIELDS_LOOKED_AT,
    DeadEnds,
    Observer,
    Positions,
    Refused,
    value_of,
)
from waterline.checker.kafka.logs.successors import Successor, Successors
from waterline.checker.problem.packed_rows import StateWords
from waterline.model.core.layout import Element, Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Call, Model
from waterline.model.message.environment import RARE_BUDGET_MAX, RECORDS_MAX, Environment
from waterline.model.message.model import message_model

STATES_MAX = 60_000
"""Maximum number of states of all searches for an answer: about ten seconds."""
_COSTS = {
    "Crash": 4,
    "SessionExpiry": 4,
    "PowerLoss": 6,
    "DiskLoss": 6,
    "Restart": 2,
    "Checkpoint": 2,
    "ShrinkIsr": 2,
}
"""Steps that are rarer than one of a fetch; they are tried later."""
_STEPS_AN_OFFSET = 3
"""Approximate number of steps that bring a log or a high watermark one run further."""
_STEPS_A_LINE, _STEPS_A_LINE_OF_LOSS = 8, 4
"""Value of a line in steps. If only lines counted, a search would stay in a dead end with many."""


@dataclass(frozen=True, slots=True)
class Node:
    """A state of the product, and the way to it."""

    words: StateWords
    positions: Positions
    lost: bool
    parent: Node | None
    call: Call | None
    steps: int
    """Weighed by `_COSTS`."""


@dataclass(slots=True)
class Fit:
    """A behaviour: its steps, the positions after each, how many lines are behind at its end."""

    calls: tuple[Call, ...]
    positions: tuple[Positions, ...]
    loses: bool
    lines: int = 0


@dataclass(slots=True, kw_only=True)
class Searched:
    """The outcome of one search within bounds.

    `fits[True]` is a behaviour that loses an acknowledged record, `fits[False]` one that loses
    none, each where one was found. `complete` has those of the two for which every state of the
    product within these bounds was looked at. `longest` is the longest prefix that fits, `refusals`
    why its states go no further, most frequent first.
    """

    history: History
    model: Model
    environment: Environment
    fits: dict[bool, Fit] = field(default_factory=dict)
    complete: set[bool] = field(default_factory=set)
    states: int = 0
    seconds: float = 0.0
    longest: Fit | None = None
    refusals: Counter[Refused] = field(default_factory=Counter)

    def excludes(self, loses: bool) -> bool:
        """True if these bounds exclude a fit that loses a record, or one that loses none.

        The search for a loss covers all states without a loss as well.
        """
        return loses not in self.fits and bool({loses, True} & self.complete)

    @property
    def nothing_fits(self) -> bool:
        """True if no behaviour fits, within these bounds."""
        return self.excludes(True) and self.excludes(False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """The circumstances that logs do not say: the release's rules, and the operator's settings."""

    version: str
    hw_in_response: str
    min_insync_replicas: int = 1
    unclean_leader_election: bool = False
    acks: str = "all"
    is_first_partition: bool = True
    """True for partition 0, whose replicas decide the controller's min.insync.replicas (KRaft)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Faults and records of one search, besides those in the lines."""

    more_records: int = 0
    crashes: int = 0
    expiries: int = 0
    power_losses: int = 0
    lost_disks: int = 0
    taken_directories: int = 0


_BESIDE = (
    Beside(),
    Beside(crashes=1),
    Beside(crashes=1, more_records=1),
    Beside(crashes=1, expiries=1),
    Beside(crashes=2, more_records=1, expiries=1),
    Beside(power_losses=1, more_records=1),
    Beside(lost_disks=1, more_records=1),
)
_BESIDE_SHORTER_LOGS = (
    Beside(power_losses=1),
    Beside(lost_disks=1),
    Beside(power_losses=1, more_records=1, crashes=1),
    Beside(lost_disks=1, more_records=1, crashes=1),
    Beside(power_losses=1, lost_disks=1, more_records=1, crashes=1),
)
"""Events for a log that came back shorter: no crash of a process takes records."""
_BESIDE_TAKEN = (Beside(taken_directories=1), *_BESIDE_SHORTER_LOGS)
"""Events for a log that did so after a proper shutdown: its log directory was taken out."""


def bounds_in_turn(history: History, given: Circumstances) -> Iterator[Environment]:
    """Yield bounds for events without lines: first none, then a crash, then more."""
    epochs = max(1, history.last_epoch - history.first_epoch)
    runs = max(1, len(history.offsets) - 1)
    shutdowns = min(3, history.shutdowns)
    shorter = history.shorter_logs
    ladder = _BESIDE_TAKEN if history.has_shut_down else _BESIDE_SHORTER_LOGS
    for beside in ladder if shorter else _BESIDE:
        crashes = history.gone_silently + beside.crashes
        yield Environment(
            replicas=len(history.brokers),
            records=min(RECORDS_MAX, runs + beside.more_records),
            epochs=epochs,
            restarts=min(15, history.restarts + crashes),
            shutdowns=shutdowns,
            session_expiries=beside.expiries,
            power_losses=min(RARE_BUDGET_MAX, beside.power_losses * max(1, shorter)),
            lost_disks=min(RARE_BUDGET_MAX, beside.lost_disks * max(1, shorter)),
            taken_directories=beside.taken_directories,
            moves=min(15, epochs),
            restart_detection="any",
            election_order=_election_order(history, given, shutdowns or beside.expiries),
            reassignments=history.reassignments,
            assigned=history.assigned,
            first_partition_replicas=_first_partition_replicas(history, given),
            min_insync_replicas=given.min_insync_replicas,
            unclean_leader_election=given.unclean_leader_election,
            hw_in_response=given.hw_in_response,
            acks=given.acks,
        )


def _election_order(history: History, given: Circumstances, leaves: int) -> str:
    """The model has no choice of winner where a living broker may leave, nor where a cancellation
    is unclean.
    """
    is_unclean = given.unclean_leader_election and history.reassignments
    return "assignment" if leaves or is_unclean else "any"


def _first_partition_replicas(history: History, given: Circumstances) -> int:
    """Return the assumed number of replicas of partition 0: this one's at first; 0 for itself."""
    if given.is_first_partition or not history.reassignments:
        return 0
    return history.assigned or len(history.brokers)


def search_fits(
    history: History,
    given: Circumstances,
    environment: Environment,
    *,
    states_max: int = STATES_MAX,
    seconds_max: float = 60.0,
    plain: bool = False,
) -> Searched:
    """Look for a fit that loses no acknowledged record, and for one that loses one.

    A plain search goes on in dead ends: the longest prefix is longer then.

    Each of the two has half of the limits, and what the other leaves.
    """
    model = message_model(given.version, environment)
    found = Searched(history=history, model=model, environment=environment)
    product = Product(model, history, plain=plain)
    began = time.monotonic()
    for loses, share in ((False, 0.5), (True, 1.0)):
        until = began + seconds_max * share
        _search(found, product, loses, int(states_max * share), until)
    found.seconds = time.monotonic() - began
    return found


class Product:
    """The product of a model and the observer of a history."""

    def __init__(self, model: Model, history: History, *, plain: bool) -> None:
        c = model.settings
        self.observer = Observer(history, takes_directories=c.taken_directories > 0)
        self.successors = Successors(model)
        may_lose = bool(c.power_losses or c.lost_disks or c.reassignments or c.taken_directories)
        self.dead_ends = None if plain else DeadEnds(history, model.layout, may_lose=may_lose)
        self._layout = model.layout
        self._looked_at = _mask(model.layout, FIELDS_LOOKED_AT)
        self._wanted: dict[Positions, tuple[tuple[Element, int], ...]] = {}

    def after(
        self, node: Node, before: State, made: Successor
    ) -> tuple[Call, tuple[Positions, ...] | Refused]:
        """The step, and where the lines can stand after it, or why it cannot have been taken."""
        call = self.successors.call_of(made.step)
        if call[0] not in ALWAYS_LOOKED_AT and not any(
            (old ^ new) & mask
            for old, new, mask in zip(node.words, made.words, self._looked_at, strict=True)
        ):
            return call, (node.positions,)
        after = State(self._layout, made.words)
        return call, self.observer.after(before, call, after, node.positions)

    def distance(self, words: StateWords, positions: Positions) -> int:
        """Return the distance of logs and high watermarks from those in the next lines.

        It only decides what to try first.
        """
        wanted = self._wanted.get(positions)
        if wanted is None:
            wanted = self._wanted[positions] = tuple(
                (self._layout.elements[name][replica], min(value, self._layout.places[name].hi))
                for name, replica, value in self.observer.wanted_facts(positions)
            )
        return sum(abs(value - value_of(element, words)) for element, value in wanted)


def _mask(layout: Layout, names: Iterable[str]) -> tuple[int, ...]:
    """The bits of these fields, in each word of a state."""
    bits = [0] * layout.words
    for element in (each for name in names for each in layout.elements[name].values()):
        bits[element.word] |= element.mask << element.shift
    return tuple(bits)


class Queue:
    """Nodes to look at, the most promising first."""

    def __init__(self, product: Product, first: Node, *, loses: bool) -> None:
        self._product = product
        self._loses = loses
        self._number = itertools.count()
        self._heap: list[tuple[int, int, int, Node]] = []
        self._seen = {(first.words, first.positions, first.lost)}
        heapq.heappush(self._heap, (0, 0, next(self._number), first))

    def __bool__(self) -> bool:
        return bool(self._heap)

    def pop(self) -> Node:
        """The next node to look at."""
        return heapq.heappop(self._heap)[-1]

    def add(self, node: Node, call: Call, made: Successor, positions: Positions) -> Refused | None:
        """A node behind another, unless it is known; why not, if it is a dead end."""
        lost, words, product = node.lost or made.loses, made.words, self._product
        key = (words, positions, lost)
        if key in self._seen or (lost and not self._loses):
            return None
        self._seen.add(key)
        if product.dead_ends and (refused := product.dead_ends.refusal_at(words, positions)):
            return refused
        cost = node.steps + _COSTS.get(call[0], 1)
        child = Node(words, positions, lost, node, call, cost)
        rank = self._rank(child, endangers=made.endangers)
        heapq.heappush(self._heap, (rank, cost, next(self._number), child))
        return None

    def _rank(self, node: Node, *, endangers: bool) -> int:
        rank = node.steps + _STEPS_AN_OFFSET * self._product.distance(node.words, node.positions)
        if self._loses:
            # What makes a loss possible comes before the lines tell of it.
            behind = self._behind(node) + (2 if node.lost else endangers)
            return rank - _STEPS_A_LINE_OF_LOSS * behind
        return rank - _STEPS_A_LINE * self._behind(node)

    def _behind(self, node: Node) -> int:
        """Lines of brokers and decisions that are behind."""
        return self._product.observer.lines_behind(node.positions) + node.positions[-1]


def _search(found: Searched, product: Product, loses: bool, states_max: int, until: float) -> None:
    """Run one of the two searches. That for a loss begins with states that acknowledge records."""
    observer, layout = product.observer, found.model.layout
    first = Node(found.model.initial[0].words, observer.start, False, None, None, 0)
    queue = Queue(product, first, loses=loses)
    best = -1 if found.longest is None else found.longest.lines
    while queue:
        if found.states >= states_max or time.monotonic() > until:
            return
        node = queue.pop()
        found.states += 1
        behind = observer.lines_behind(node.positions)
        if observer.is_over(node.positions):
            found.fits.setdefault(node.lost, fit_of(node, behind))
            if node.lost is loses:
                return
        if behind > best:
            best, found.longest, found.refusals = behind, fit_of(node, behind), Counter()
        before = State(layout, node.words)
        for made in product.successors.of(node.words):
            call, reached = product.after(node, before, made)
            if isinstance(reached, Refused):
                if behind == best and reached.replica >= 0:
                    found.refusals[reached] += 1
                continue
            for positions in reached:
                refused = queue.add(node, call, made, positions)
                if refused is None:
                    continue
                behind_then = observer.lines_behind(positions)
                if behind_then > best:
                    # The lines come so far, and no further.
                    best, found.refusals = behind_then, Counter()
                    last = Node(made.words, positions, node.lost, node, call, 0)
                    found.longest = fit_of(last, best)
                if behind_then == best:
                    found.refusals[refused] += 1
    found.complete.add(loses)


def fit_of(node: Node, lines: int) -> Fit:
    """The steps on the way to a node, with the number of lines behind it."""
    calls: list[Call] = []
    positions: list[Positions] = []
    at: Node | None = node
    while at is not None and at.call is not None:
        calls.append(at.call)
        positions.append(at.positions)
        at = at.parent
    return Fit(tuple(reversed(calls)), tuple(reversed(positions)), node.lost, lines)
