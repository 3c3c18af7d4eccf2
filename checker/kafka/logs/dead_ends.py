"""Dead ends: states whose next lines can never be written, recognised without a search.

Each rule names a fact that no step can change before the line. docs/incidents.md has the argument
for each; random walks of the model attack them (tests/kafka/logs/test_walks_fit.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.kafka.logs.courses import Course, course_of
from waterline.checker.kafka.logs.history import History
from waterline.checker.kafka.logs.observation import Kind, Observation
from waterline.checker.kafka.logs.observer import Positions, Refused
from waterline.checker.problem.packed_rows import StateWords
from waterline.model.core.layout import Element, Layout
from waterline.model.message.terms import (
    ANSWERED,
    CHECKED,
    DIVERGING,
    FETCHING,
    LEADER,
    OUT_OF_RANGE,
    TRUNCATING,
)

_ROLES = (Kind.LEADS, Kind.FOLLOWS)
_ANSWERS = frozenset({ANSWERED, CHECKED, DIVERGING, OUT_OF_RANGE})
_FIELDS = ("leo", "hw", "role", "known_epoch", "known_leader", "fetch", "up", "checkpoint")


@dataclass(frozen=True, slots=True)
class _Ahead:
    """The lines of a replica from one on: None where they do not say it.

    `log_end` and `watermark` are those of the next line that has them, unless one before it tells
    that they sink. `role` are both where that is the very next line, `checkpoint` what a
    start reads where that is the next line. `leads` are the epochs that it leads from here on.
    """

    log_end: int | None
    watermark: int | None
    role: tuple[int, int] | None
    checkpoint: int | None
    leads: frozenset[int]


_NOTHING = _Ahead(None, None, None, None, frozenset())


class DeadEnds:
    """The dead ends of a history, in the states of a layout.

    `may_lose`: a start can find a shorter log, and another checkpoint, than its process left.
    """

    def __init__(self, history: History, layout: Layout, *, may_lose: bool) -> None:
        self._elements = tuple(
            tuple(layout.elements[name][replica] for name in _FIELDS)
            for replica in range(len(history.brokers))
        )
        self._courses = tuple(map(course_of, history.observed))
        self._ahead = tuple(
            _ahead(
                course,
                has_server_log=replica in history.with_server_log,
                may_lose=may_lose,
            )
            for replica, course in enumerate(self._courses)
        )

    def refusal_at(self, words: StateWords, positions: Positions) -> Refused | None:
        """Return a next line that no behaviour from this state can write, None if none is known."""
        for replica, ahead in enumerate(self._ahead):
            lines = ahead[positions[replica]]
            if lines is not _NOTHING and (why := self._why(replica, lines, words, positions)):
                return Refused(replica, self._courses[replica].nexts[positions[replica]][0][0], why)
        return None

    def _why(self, replica: int, lines: _Ahead, words: StateWords, positions: Positions) -> str:
        leo, hw, role, *_, checkpoint = self._elements[replica]
        log_end, watermark = _value(leo, words), _value(hw, words)
        if lines.log_end is not None and log_end > lines.log_end:
            return "the model's log is longer by then"
        if _value(role, words) == LEADER:
            if lines.watermark is not None and watermark > lines.watermark:
                return "the model's high watermark is higher by then"
            read = lines.checkpoint
            if read is not None and watermark > read and _value(checkpoint, words) != read:
                return "the model's checkpoint is another by then"
        if (
            lines.role is not None
            and (log_end, watermark) != lines.role
            and self._gets_nothing(replica, words, positions)
        ):
            return f"log end {log_end} and high watermark {watermark} stay so in the model"
        return ""

    def _gets_nothing(self, replica: int, words: StateWords, positions: Positions) -> bool:
        """True if a follower will fetch nothing more in the epoch that it knows."""
        _, _, role, known_epoch, known_leader, fetch, *_ = self._elements[replica]
        if _value(role, words) not in (TRUNCATING, FETCHING) or _value(fetch, words) in _ANSWERS:
            return False
        leader, epoch = _value(known_leader, words), _value(known_epoch, words)
        _, _, its_role, its_epoch, _, _, is_up, _ = self._elements[leader]
        leads = (
            _value(is_up, words) == 1
            and _value(its_role, words) == LEADER
            and _value(its_epoch, words) == epoch
        )
        return not leads and epoch not in self._ahead[leader][positions[leader]].leads


def _value(element: Element, words: StateWords) -> int:
    return (words[element.word] >> element.shift & element.mask) + element.lo


def _ahead(course: Course, *, has_server_log: bool, may_lose: bool) -> tuple[_Ahead, ...]:
    """Return what lies ahead of each position. Only a server.log shows cuts and process ends."""
    found = [_NOTHING] * len(course.nexts)
    for position in range(len(course.nexts) - 2, -1, -1):
        ahead = [
            _before(seen, found[after], may_lose=may_lose)
            for _, seen, after in course.next_of(position)
        ]
        found[position] = _common(ahead)
    if not has_server_log:
        found = [_Ahead(None, None, None, None, each.leads) for each in found]
    return tuple(found)


def _before(seen: Observation, after: _Ahead, *, may_lose: bool) -> _Ahead:
    """Return what is ahead where this line is the next, and `after` is behind it."""
    log_end, watermark, role = after.log_end, after.watermark, None
    leads, checkpoint = after.leads, None
    if seen.kind is Kind.TRUNCATES:
        log_end = watermark = None
    elif seen.kind is Kind.LOADS:
        watermark, checkpoint = None, seen.high_watermark
        if may_lose:
            log_end = checkpoint = None
    elif seen.offset is not None:
        log_end, watermark = seen.offset, seen.high_watermark
    if seen.kind in _ROLES and seen.offset is not None and seen.high_watermark is not None:
        role = seen.offset, seen.high_watermark
    if seen.kind is Kind.LEADS and seen.epoch is not None:
        leads = leads | {seen.epoch}
    return _Ahead(log_end, watermark, role, checkpoint, leads)


def _common(ahead: Sequence[_Ahead]) -> _Ahead:
    """Return what is so whichever line is the next."""
    first, *others = ahead
    for each in others:
        first = _Ahead(
            _greater(first.log_end, each.log_end),
            _greater(first.watermark, each.watermark),
            first.role if first.role == each.role else None,
            first.checkpoint if first.checkpoint == each.checkpoint else None,
            first.leads | each.leads,
        )
    return first


def _greater(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)
