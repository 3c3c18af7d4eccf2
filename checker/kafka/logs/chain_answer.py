"""Answer from logs of many epochs, explained window by window: fits, nothing fits, or open."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from waterline.checker.kafka.logs.answer import histories_of
from waterline.checker.kafka.logs.causes import Cause, causes_of
from waterline.checker.kafka.logs.chain import Chain, Piece, explain_windows
from waterline.checker.kafka.logs.errors import BadLogs
from waterline.checker.kafka.logs.evidence import Evidence, evidence_of
from waterline.checker.kafka.logs.fitting import STATES_MAX, Circumstances, Searched
from waterline.checker.kafka.logs.reading import Logs
from waterline.checker.kafka.logs.reassigned import reassigned_in
from waterline.checker.kafka.logs.timeline import Event, timeline
from waterline.checker.kafka.logs.windows import LADDER


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainAnswer:
    """The answer about a partition. `shown` is the chain that says most.

    `nothing_fits`: within the bounds of every window, with nothing left out. Where neither that nor
    `fits` is so, it is open. `causes` are entries of the catalogue: the loss of a window goes with
    the repair of each.
    """

    partition: str
    evidence: Evidence
    shown: Chain
    fits: frozenset[bool]
    """Behaviours found: True stands for one that loses an acknowledged record."""
    nothing_fits: bool
    causes: tuple[Cause, ...]
    seconds: float


def answered_by_windows(
    logs: Logs,
    partition: str,
    given: Circumstances,
    *,
    width: int,
    epochs: tuple[int, int] | None = None,
    states_max: int = STATES_MAX,
    seconds_max: float = 120.0,
) -> ChainAnswer:
    """Explain `width` epochs at a time, first without a loss. Raises `BadLogs`."""
    began = time.monotonic()
    by_broker = logs.of(partition)
    first, last = epochs or (None, None)
    if reassigned := reassigned_in(by_broker, first, last):
        raise BadLogs(
            f"replicas are reassigned, {reassigned[0]}: --windows joins no windows there; name "
            "epochs before or after that with --epochs, or explain those around it without it"
        )
    whole, *others = histories_of(by_broker, logs, first, last, is_limited=False)
    chains: list[Chain] = []
    for loses, share in ((False, 0.6), (True, 1.0)):
        until = began + seconds_max * share
        chains.append(
            explain_windows(
                whole,
                given,
                width=width,
                loses=loses,
                plain=False,
                states_max=states_max,
                until=until,
            )
        )
    nothing_fits = False
    if not (any(c.fits for c in chains) or whole.orders_left_out) and chains[-1].is_whole:
        # That shall not rest on dead ends, on what the decisions are taken for, nor on one order in
        # which brokers are assigned.
        plain = [
            explain_windows(
                replace(each, decisions=(), decision_sources=()),
                given,
                width=width,
                loses=True,
                plain=True,
                states_max=states_max,
                until=began + 2 * seconds_max,
                ladder=LADDER[-1:],
            )
            for each in (whole, *others)
        ]
        chains += plain
        has_all_orders = len(plain) == math.factorial(len(whole.brokers) - 1)
        nothing_fits = has_all_orders and all(c.is_whole and not c.fits for c in plain)
    shown = max(chains, key=lambda chain: (chain.fits, chain.loses, chain.lines))
    evidence = evidence_of(by_broker, logs.unclean_of(partition), first, last)
    return ChainAnswer(
        partition=partition,
        evidence=evidence,
        shown=shown,
        fits=frozenset(chain.loses for chain in chains if chain.fits),
        nothing_fits=nothing_fits,
        causes=_causes(shown, missed=bool(evidence.missed)) if shown.loses else (),
        seconds=time.monotonic() - began,
    )


def _causes(chain: Chain, *, missed: bool) -> tuple[Cause, ...]:
    """Return the causes of the loss, from the window that contains it."""
    for piece in chain.pieces:
        found = causes_of(
            piece.window.model,
            piece.window.environment,
            piece.state,
            piece.fit.calls,
            missed=missed,
        )
        if found:
            return found
    return ()


def events_of(chain: Chain) -> Iterator[tuple[Piece, list[Event]]]:
    """Each piece, and its steps, numbered on through all of them."""
    number = 0
    for piece in chain.pieces:
        searched = Searched(
            history=piece.window.history,
            model=piece.window.model,
            environment=piece.window.environment,
        )
        is_last = piece is chain.pieces[-1]
        events = [
            replace(event, number=event.number and number + event.number)
            for event in timeline(
                searched, piece.fit, piece.state, piece.positions, is_last=is_last
            )
        ]
        number += len(piece.fit.calls)
        yield piece, events
