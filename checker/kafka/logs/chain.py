"""Explanation of a long history as a chain of windows.

The chain is one behaviour: each piece begins in the last state of the piece before, renumbered for
the next window. If a state cannot be carried over exactly, or there are too many, the answer stays
open: the verdict "nothing fits" requires that nothing was left out.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.kafka.logs.carrying import Numbering
from waterline.checker.kafka.logs.fitting import Beside, Circumstances, Fit, Node, fit_of
from waterline.checker.kafka.logs.history import History
from waterline.checker.kafka.logs.observer import Positions
from waterline.checker.kafka.logs.openings import Start, open_window
from waterline.checker.kafka.logs.window_search import Explored, explore, root_of
from waterline.checker.kafka.logs.windows import LADDER, Window, spans_of, split
from waterline.model.core.state import State

ENDS_MAX = 2000
"""Maximum number of ends sought for a window."""
CARRIED_MAX = 300
"""Maximum number of them carried on, with different positions of the lines in turn."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of a behaviour that lies in a window: its first state, and its steps."""

    window: Window
    state: State
    positions: Positions
    fit: Fit
    numbering: Numbering | None


@dataclass(slots=True, kw_only=True)
class Chain:
    """The outcome of all windows. `pieces` are a behaviour, of all windows where `fits`."""

    whole: History
    explored: list[Explored]
    pieces: tuple[Piece, ...]
    fits: bool
    loses: bool
    is_whole: bool
    """True if no window left anything out, so that what was not found does not exist."""

    @property
    def lines(self) -> int:
        """Number of brokers' lines that the pieces cover."""
        if not self.pieces:
            return 0
        last = self.pieces[-1]
        return sum((last.positions, *last.fit.positions)[-1][:-1])


def explain_windows(
    whole: History,
    given: Circumstances,
    *,
    width: int,
    loses: bool,
    plain: bool,
    states_max: int,
    until: float,
    ladder: Sequence[Beside] = LADDER,
    ends_max: int = ENDS_MAX,
    carried_max: int = CARRIED_MAX,
) -> Chain:
    """Explain window by window. `states_max` is of each window. Raises `BadLogs`."""
    chain = Chain(whole=whole, explored=[], pieces=(), fits=False, loses=False, is_whole=True)
    spans = spans_of(whole, width)
    before: Explored | None = None
    starts: dict[int, Start] = {}
    found: Explored | None
    began: dict[int, Start]
    while spans:
        span = spans[0]
        found, began = None, {}
        for beside in ladder:
            begun = open_window(whole, given, beside, span, before, starts, carried_max)
            if begun is None:
                continue
            window, began_here, left_out = begun
            now = time.monotonic()
            tried = explore(
                window,
                [start.node for start in began_here.values()],
                loses=loses,
                plain=plain,
                states_max=states_max,
                until=now + (until - now) / len(spans) / 2,
                ends_max=ends_max,
            )
            tried.left_out.update(left_out)
            if found is None or tried.ends or _behind(tried) > _behind(found):
                found, began = tried, began_here
            if tried.ends:
                break
        if found is None and (parts := split(whole, span)):
            spans[:1] = parts
            continue
        if found is None:
            chain.is_whole = False
            break
        chain.explored.append(found)
        chain.is_whole &= found.is_whole and not found.left_out
        if not found.ends:
            if found.longest is not None:
                chain.pieces = _pieces(chain.explored, found.longest, began)
            return chain
        before, starts = found, began
        del spans[0]
    if before is not None and before.ends:
        best = next((n for n in before.ends if n.lost is loses), before.ends[0])
        chain.fits, chain.loses = not spans, not spans and best.lost
        chain.pieces = _pieces(chain.explored, best, starts)
    return chain


def _behind(found: Explored) -> int:
    return sum(found.longest.positions[:-1]) if found.longest else -1


def _pieces(windows: Sequence[Explored], end: Node, starts: dict[int, Start]) -> tuple[Piece, ...]:
    """The pieces that lead to a node of the last window that was explored, in order."""
    found: list[Piece] = []
    at: Node | None = end
    start: Start | None = starts[id(root_of(end))]
    for each in reversed(windows):
        assert at is not None
        assert start is not None
        state = State(each.window.model.layout, start.node.words)
        found.append(Piece(each.window, state, start.node.positions, fit_of(at), start.numbering))
        at, start = start.end, start.start
    return tuple(reversed(found))
