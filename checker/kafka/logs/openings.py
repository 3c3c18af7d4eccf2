"""First states of a window of a long history: carried from the ends of the window before."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from waterline.checker.kafka.logs.carrying import (
    NotCarried,
    Numbering,
    carry,
    fits_incidents,
)
from waterline.checker.kafka.logs.errors import BadLogs
from waterline.checker.kafka.logs.fitting import Beside, Circumstances, Node
from waterline.checker.kafka.logs.history import History
from waterline.checker.kafka.logs.observation import Kind
from waterline.checker.kafka.logs.observer import Observer, Positions
from waterline.checker.kafka.logs.settled import (
    needed_boundaries,
    past_epochs,
    records_in,
    settled_end,
)
from waterline.checker.kafka.logs.window_search import Explored, root_of
from waterline.checker.kafka.logs.windows import Span, Window, window_of
from waterline.model.core.state import State
from waterline.model.message.epochs import sees_gaps
from waterline.model.message.features import KEEPS_WAITING_PRODUCERS, has


@dataclass(frozen=True, slots=True)
class Start:
    """A state that begins a window, and the node of the window before that it comes from."""

    node: Node
    end: Node | None
    start: Start | None
    numbering: Numbering | None


def open_window(
    whole: History,
    given: Circumstances,
    beside: Beside,
    span: Span,
    before: Explored | None,
    starts: dict[int, Start],
    carried_max: int,
) -> tuple[Window, dict[int, Start], Counter[str]] | None:
    """A window, its first states by the identity of their nodes, and why others are left out."""
    if before is None:
        at = Observer(whole).start
        window = window_of(
            whole, given, beside, span, positions=at, slots=0, base=0, needed=(), names=0
        )
        if window is None:
            return None
        _require_order_alone(window)
        node = Node(window.model.initial[0].words, at, False, None, None, 0)
        return window, {id(node): Start(node, None, None, None)}, Counter()
    left_out: Counter[str] = Counter()
    rooms: dict[tuple[object, ...], bool] = {}
    candidates = []
    for each in _in_turn(_candidates(before, whole, span)):
        key = (each.base, each.needed, each.names, each.past, each.node.positions)
        if key not in rooms:
            alone = _window_for(whole, given, beside, span, before.window, (each,))
            rooms[key] = alone is not None
        if rooms[key]:
            candidates.append(each)
        else:
            left_out["the window has no room for the state"] += 1
    if len(candidates) > carried_max:
        left_out["more states end the window before than are carried"] = (
            len(candidates) - carried_max
        )
        candidates = candidates[:carried_max]
    while candidates:
        window = _window_for(whole, given, beside, span, before.window, candidates)
        if window is not None:
            return window, _carried_into(window, before, candidates, starts, left_out), left_out
        worst = max(candidates, key=lambda c: (-c.base, len(c.needed) + c.names))
        candidates = [c for c in candidates if c is not worst]
        left_out["the window has no room for the state"] += 1
    return None


@dataclass(slots=True, kw_only=True)
class _Candidate:
    node: Node
    state: State
    base: int
    needed: frozenset[int]
    names: int
    past: int


def _candidates(before: Explored, whole: History, span: Span) -> Iterator[_Candidate]:
    """The ends of a window, first with what brokers can write to their checkpoints at once."""
    window = before.window
    first = window.here(span.first)
    for node in _with_checkpoints(before, whole):
        state = State(window.model.layout, node.words)
        yield _Candidate(
            node=node,
            state=state,
            base=settled_end(state),
            needed=frozenset(needed_boundaries(state)),
            names=len(records_in(state)),
            past=len(past_epochs(state, first)),
        )


def _in_turn(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """Return one candidate of each position, then one more of each: near ones may be dead ends."""
    groups: dict[Positions, list[_Candidate]] = {}
    for each in candidates:
        groups.setdefault(each.node.positions, []).append(each)
    turns = itertools.zip_longest(*groups.values())
    return [each for turn in turns for each in turn if each is not None]


def _with_checkpoints(before: Explored, whole: History) -> list[Node]:
    """The ends, nearest to the next lines first, each also behind steps of `Checkpoint`.

    A checkpoint may not rise above what the next start of its broker reads.
    """
    window = before.window
    model = window.model
    action = model.action("Checkpoint")
    seen: set[tuple[object, ...]] = set()
    found: list[Node] = []
    originals: list[Node] = []
    for node in before.ends:
        state, at = State(model.layout, node.words), node
        for r in range(len(whole.brokers)):
            ahead = whole.observed[r][node.positions[r] :]
            read = next((o.high_watermark for o in ahead if o.kind is Kind.LOADS), None)
            if state.up[r] != 1 or state.hw[r] <= state.checkpoint[r]:
                continue
            if read is not None and window.boundaries[state.hw[r]] > read:
                continue
            if model.is_enabled(state, action, (r,)):
                state = model.apply(state, action, (r,))
                at = Node(
                    state.words, at.positions, at.lost, at, ("Checkpoint", (r,)), at.steps + 1
                )
        for each, to in ((at, found), (node, originals)):
            key = (each.words, each.positions, each.lost)
            if key not in seen:
                seen.add(key)
                to.append(each)
    return found + originals


def _window_for(
    whole: History,
    given: Circumstances,
    beside: Beside,
    span: Span,
    before: Window,
    candidates: Sequence[_Candidate],
) -> Window | None:
    base = min(c.base for c in candidates)
    needed = {before.boundaries[o] for c in candidates for o in c.needed if o > base}
    positions = tuple(
        min(c.node.positions[r] for c in candidates)
        for r in range(len(candidates[0].node.positions))
    )
    return window_of(
        whole,
        given,
        beside,
        span,
        positions=positions,
        slots=max(c.past for c in candidates),
        base=before.boundaries[base],
        needed=needed,
        names=_names(before, needed, base, candidates),
    )


def _names(before: Window, needed: set[int], base: int, candidates: Sequence[_Candidate]) -> int:
    """Return the maximum number of records of a carried state: two of one offset are two."""
    return max(
        len(
            {
                (at, x)
                for at, x in _records_at(c.state)
                if at >= base and _begins(before, needed, at, base)
            }
        )
        for c in candidates
    )


def _begins(before: Window, needed: set[int], at: int, base: int) -> bool:
    return at == base or before.boundaries[at] in needed


def _records_at(s: State) -> Iterator[tuple[int, int]]:
    for r in range(s.replicas):
        for o in range(s.leo[r]):
            yield o, s.log[r, o]


def _carried_into(
    window: Window,
    before: Explored,
    candidates: Sequence[_Candidate],
    starts: dict[int, Start],
    left_out: Counter[str],
) -> dict[int, Start]:
    old = before.window
    number = {offset: k for k, offset in enumerate(old.boundaries)}
    numbering = Numbering(
        first=old.here(window.span.first),
        slots=window.slots,
        boundaries=tuple(number[o] for o in window.boundaries if o in number),
    )
    if {o for o in old.boundaries if window.boundaries[0] < o <= window.boundaries[-1]} - set(
        window.boundaries
    ):
        left_out["runs of records that no line tells apart are one from here on"] += 1
    found: dict[int, Start] = {}
    seen: set[tuple[object, ...]] = set()
    for each in candidates:
        try:
            made = carry(each.state, window.model, numbering)
        except NotCarried as problem:
            left_out[str(problem)] += 1
            continue
        lost = each.node.lost or made.lost
        key = (made.state.words, each.node.positions, lost)
        if key in seen:
            continue
        seen.add(key)
        node = Node(made.state.words, each.node.positions, lost, None, None, 0)
        found[id(node)] = Start(node, each.node, starts[id(root_of(each.node))], numbering)
    return found


def _require_order_alone(window: Window) -> None:
    c = window.model.settings
    if sees_gaps(c) or has(c, KEEPS_WAITING_PRODUCERS) or not fits_incidents(c):
        raise BadLogs(
            f"windows are not joined by the rules of {window.model.version}, which look at more "
            "than the order of epochs; name fewer epochs with --epochs"
        )
