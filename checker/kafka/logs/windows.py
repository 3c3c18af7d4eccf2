"""Windows of a long history: some of its epochs at a time, in numbers of their own.

A window ends with a decision of the controller, usually the one that begins the next epoch. Lines
of later windows stay the next lines of their brokers, so no broker is free before its last line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from waterline.checker.kafka.logs.fitting import Beside, Circumstances
from waterline.checker.kafka.logs.history import History
from waterline.checker.kafka.logs.observation import Kind, Observation
from waterline.checker.kafka.logs.observer import Positions
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import RECORDS_MAX, Environment
from waterline.model.message.model import message_model

_BELOW, _ABOVE = -1, 99
"""Numbers of offsets that no state of the window has."""
_EPOCHS_BEGUN = 2
"""A step begins so many epochs at most; one more than the window's own begins with the next."""


LADDER = (
    Beside(more_records=1),
    Beside(),
    Beside(more_records=1, crashes=1),
    Beside(more_records=2, crashes=1, expiries=1),
)
"""Raised in turn, in each window for itself. No window has power losses or lost disks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Epochs `first` to `last` of the whole history that a window covers, in its numbers.

    The window ends with the decision that begins the next epoch, or, if `decisions` is a number,
    with that decision of the history.
    """

    first: int
    last: int
    decisions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A span of a whole history, in numbers of its own.

    `slots` epochs before it keep a number; the first of its own is the next. `boundaries[k]` is the
    offset, as the whole history numbers it, that is k here. `history` is all of it in the numbers
    of this window.
    """

    span: Span
    is_last: bool
    slots: int
    boundaries: tuple[int, ...]
    history: History
    environment: Environment
    model: Model

    @property
    def last_here(self) -> int:
        """The last epoch, as the window's states number it."""
        return self.here(self.span.last)

    def here(self, epoch: int) -> int:
        """An epoch of the whole history, as the window's states number it."""
        return epoch - self.span.first + self.slots

    def has_ended(self, epoch: int, positions: Positions) -> bool:
        """True if the decision that ends the window has been taken."""
        ends = self.span.decisions
        return epoch > self.last_here or (ends is not None and positions[-1] >= ends)


def spans_of(history: History, width: int) -> list[Span]:
    """The epochs of a history, `width` in each span."""
    last = history.last_epoch - history.first_epoch
    firsts = range(0, last + 1, width)
    return [Span(first=first, last=min(first + width - 1, last)) for first in firsts]


def split(history: History, span: Span) -> list[Span]:
    """A span in parts: its epochs, or one epoch up to each of its decisions, as far as known."""
    if span.decisions is not None:
        return []
    if span.last > span.first:
        return [Span(first=e, last=e) for e in range(span.first, span.last + 1)]
    within = [k for k, seen in enumerate(history.decisions, 1) if seen.epoch == span.first]
    parts = [Span(first=span.first, last=span.last, decisions=k) for k in within[1:]]
    return [*parts, span] if parts else []


def window_of(
    whole: History,
    given: Circumstances,
    beside: Beside,
    span: Span,
    *,
    positions: Positions,
    slots: int,
    base: int,
    needed: Collection[int],
    names: int,
) -> Window | None:
    """A window behind `positions`; None where it has no room in a state.

    `needed` are the boundaries that the carried states tell apart, `names` how many records the
    one with the most of them has.
    """
    first, last = span.first, span.last
    is_last = last == whole.last_epoch - whole.first_epoch and span.decisions is None
    reach = _reach(whole, positions, last, last + (span.decisions is None))
    named = {o for lines in _ahead(whole, positions) for seen in lines for o in _offsets(seen)}
    top = max([base, *needed, *reach])
    kept = sorted({base} | {o for o in named | set(needed) if base < o <= top})
    boundaries = (*kept, *range(top + 1, top + 1 + beside.more_records))
    produced = sum(o > max(needed, default=0) for o in boundaries)
    records = max(1, len(boundaries) - 1, names + produced)
    if records > RECORDS_MAX:
        return None
    highest = last - first + slots + (0 if is_last else _EPOCHS_BEGUN)
    starts = _count(whole, positions, last, Kind.LOADS)
    stops = _count(whole, positions, last, Kind.STOPS)
    crashes = starts + whole.gone_silently + beside.crashes
    try:
        environment = Environment(
            replicas=len(whole.brokers),
            records=records,
            epochs=max(1, highest),
            restarts=min(15, crashes),
            shutdowns=min(3, stops),
            session_expiries=beside.expiries,
            moves=min(15, last - first + 2),
            restart_detection="any",
            election_order="assignment" if stops or beside.expiries else "any",
            min_insync_replicas=given.min_insync_replicas,
            unclean_leader_election=given.unclean_leader_election,
            hw_in_response=given.hw_in_response,
            acks=given.acks,
        )
        model = message_model(given.version, environment)
    except BadEnvironment:
        return None
    return Window(
        span=span,
        is_last=is_last,
        slots=slots,
        boundaries=boundaries,
        history=_renumbered_history(whole, first - slots, last, boundaries),
        environment=environment,
        model=model,
    )


def _ahead(whole: History, positions: Positions) -> list[Sequence[Observation]]:
    return [lines[at:] for lines, at in zip(whole.observed, positions, strict=False)]


def _until(lines: Sequence[Observation], last: int) -> Sequence[Observation]:
    """Lines up to the first of an epoch after `last`, with that one."""
    for k, seen in enumerate(lines):
        if seen.epoch is not None and seen.epoch > last:
            return lines[: k + 1]
    return lines


def _reach(whole: History, positions: Positions, last: int, reached: int) -> set[int]:
    """Return the offsets in the window's lines, up to those that announce epoch `reached`."""
    return {
        offset
        for lines in _ahead(whole, positions)
        for seen, epoch in _with_epochs(_until(lines, last), last)
        if epoch <= reached
        for offset in _offsets(seen)
    }


def _with_epochs(lines: Sequence[Observation], last: int) -> Iterator[tuple[Observation, int]]:
    """Each line with the epoch of the next that has one: a start may be of a later window."""
    following, found = last, []
    for seen in reversed(lines):
        following = following if seen.epoch is None else seen.epoch
        found.append((seen, following))
    return reversed(found)


def _offsets(seen: Observation) -> list[int]:
    return [o for o in (seen.offset, seen.high_watermark) if o is not None]


def _count(whole: History, positions: Positions, last: int, kind: Kind) -> int:
    return sum(
        seen.kind is kind for lines in _ahead(whole, positions) for seen in _until(lines, last)
    )


def _renumbered_history(
    whole: History, zero: int, last: int, boundaries: tuple[int, ...]
) -> History:
    """The history with epoch `zero` and offset `boundaries[0]` as 0, up to the next window."""
    number = {offset: k for k, offset in enumerate(boundaries)}

    def run(offset: int | None) -> int | None:
        if offset is None:
            return None
        return number.get(offset, _BELOW if offset < boundaries[0] else _ABOVE)

    def line(seen: Observation) -> Observation:
        return replace(
            seen,
            epoch=None if seen.epoch is None else seen.epoch - zero,
            offset=run(seen.offset),
            high_watermark=run(seen.high_watermark),
        )

    return replace(
        whole,
        first_epoch=whole.first_epoch + zero,
        observed=tuple(tuple(map(line, _until(lines, last))) for lines in whole.observed),
        decisions=tuple(map(line, _until(whole.decisions, last))),
        leaders={epoch - zero: leader for epoch, leader in whole.leaders.items()},
    )
