"""Observer: which line a step of the model would have written, and whether it is the next one.

The product of model and observer has a state of the model and, for each replica, a position among
its lines. A step that Kafka logs is taken only if the next line of that broker says so,
with the same numbers; all other steps are free. Behind its last line a broker is free: its
log may end there, or it may have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.checker.kafka.logs.courses import Course, course_of
from waterline.checker.kafka.logs.history import History
from waterline.checker.kafka.logs.observation import Kind, Observation
from waterline.checker.problem.packed_rows import StateWords
from waterline.model.core.layout import Element, Layout
from waterline.model.core.transition_system import Call
from waterline.model.message.narration.phrases import members_of
from waterline.model.message.terms import (
    ANSWERED,
    CHECKED,
    DIVERGING,
    FETCHING,
    LEADER,
    NO_EPOCH,
    OUT_OF_RANGE,
    TRUNCATING,
    contains,
)

Positions = tuple[int, ...]
_Line = tuple[int, Kind, dict[str, object]]
"""A replica, and the kind and the facts of the line that it writes."""
_TRUNCATES = frozenset({"RecvDiverging", "RecvOutOfRange", "OffsetForLeaderEpoch", "RecvFetch"})
_ENDS = frozenset({"Crash", "Stop", "PowerLoss", "DiskLoss"})
_SHRINKS = frozenset({"ShrinkIsr", "ShrinkTogether"})
_OF_ISR = frozenset({"AlterPartition", "AlterAndElect", "HearAnswer", "LeaderFetch"})
_LEARNS = frozenset({"Learn", "LearnLate"})
ALWAYS_LOOKED_AT = _ENDS | _SHRINKS | {"Restart", "BeginShutdown"}
_ASSIGNMENT = ("assigned", "adding", "removing")
FIELDS_LOOKED_AT = ("epoch", "leader", "isr", "leo", "known_isr", "known_epoch", *_ASSIGNMENT)
"""A step of another name that changes none of these writes no line, and no line forbids it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a step does not fit a next line of a replica, which is `line` of its history."""

    replica: int
    line: int
    reason: str


class Observer:
    """The observer of a history."""

    def __init__(self, history: History, *, takes_directories: bool = False) -> None:
        self.history = history
        self._makes_logs_anew = history.reassignments > 0 or takes_directories
        self.start: Positions = (0,) * (len(history.brokers) + 1)
        """The last is how many decisions of the controller are behind."""
        self.courses = tuple(map(course_of, (*history.observed, history.decisions)))
        self._leaders = history.leaders
        self._last_epoch = history.last_epoch - history.first_epoch
        self._next_epoch = tuple(_next_epochs(course, self._last_epoch) for course in self.courses)

    def is_over(self, positions: Positions) -> bool:
        """True if all lines are behind."""
        return all(not course.nexts[at] for at, course in zip(positions, self.courses, strict=True))

    def lines_behind(self, positions: Positions) -> int:
        """Return how many lines of brokers are written, without the controller's decisions."""
        return sum(
            course.behind[at] for at, course in zip(positions[:-1], self.courses, strict=False)
        )

    def wanted_facts(self, positions: Positions) -> Iterator[tuple[str, int, int]]:
        """Yield what the next lines tell of logs and high watermarks: field, replica, value."""
        for replica in range(len(positions) - 1):
            for _, seen, _ in self.courses[replica].next_of(positions[replica]):
                if seen.offset is not None and seen.kind is not Kind.TRUNCATES:
                    yield "leo", replica, seen.offset
                if seen.high_watermark is not None:
                    yield "hw", replica, seen.high_watermark
                    if seen.kind is Kind.LOADS:
                        yield "checkpoint", replica, seen.high_watermark

    def after(
        self, before: Any, call: Call, after: Any, positions: Positions
    ) -> tuple[Positions, ...] | Refused:
        """Return the possible positions after the step, or why it cannot have been taken."""
        name, arguments = call
        if after.epoch != before.epoch and (wrong := self._decided_otherwise(after, positions)):
            return Refused(-1, 0, wrong)
        if name in _ENDS and (
            wrong_end := self._ends_otherwise(name, arguments[0], after, positions)
        ):
            return wrong_end
        decided = self._decide(before, after, positions)
        if isinstance(decided, Refused):
            return decided
        reached: tuple[Positions, ...] = (decided,)
        for line in self._lines_written(before, call, after):
            fitted = [each for at in reached for each in self._fit(at, *line)]
            if line[1] in self.history.may_lack:
                fitted += reached
            reached = tuple({each for each in fitted if not isinstance(each, Refused)})
            if not reached:
                return next(each for each in fitted if isinstance(each, Refused))
        return reached

    def _decide(self, before: Any, after: Any, positions: Positions) -> Positions | Refused:
        """Return the positions after the controller's decision, if it has taken one."""
        seen = next((seen for _, seen, _ in self.courses[-1].next_of(positions[-1])), None)
        if seen is None:
            return positions
        knows_replicas = seen.replicas is not None and self.history.reassignments > 0
        old, new = (decided_in(s, with_replicas=knows_replicas) for s in (before, after))
        if old == new:
            return positions
        if seen.state[: len(new)] != new:
            return Refused(-1, 0, "the controller decides otherwise")
        return (*positions[:-1], positions[-1] + 1)

    def _fit(
        self, positions: Positions, replica: int, kind: Kind, facts: Mapping[str, object]
    ) -> list[Positions | Refused]:
        """Return the possible positions once the replica has written a line with these facts."""
        found: list[Positions | Refused] = []
        ahead = list(self.courses[replica].next_of(positions[replica]))
        if not ahead or (
            self._may_lack_line(replica, kind)
            and all(seen.kind is not kind for _, seen, _ in ahead)
        ):
            return [positions]
        for line, seen, after in ahead:
            wrong = _difference(seen, replica, kind, facts)
            moved = (*positions[:replica], after, *positions[replica + 1 :])
            found.append(Refused(replica, line, wrong) if wrong else moved)
        return found

    def _decided_otherwise(self, after: Any, positions: Positions) -> str:
        """Why no line can follow an epoch that begins so, "" where it can.

        A broker learns the latest decision alone: one whose next line has an epoch that is
        over can never write it.
        """
        for at, epochs in zip(positions, self._next_epoch, strict=True):
            if epochs[at] < after.epoch:
                return "a broker has yet to tell of an earlier epoch"
        if after.epoch > self._last_epoch:
            return "an epoch after the last of the lines"
        observed = self._leaders.get(int(after.epoch))
        return (
            "a line names another leader"
            if observed is not None and observed != after.leader
            else ""
        )

    def _ends_otherwise(
        self, name: str, replica: int, after: Any, positions: Positions
    ) -> Refused | None:
        """Why a process cannot end here, None where it can.

        Where its next line is one of a process that runs: a start would have written one. Where the
        start will not read what its line says: a disk does not change meanwhile. Where a shutdown
        would have left a file that the start did not find.
        """
        course = self.courses[replica]
        ahead = list(course.next_of(positions[replica]))
        if not ahead or self._may_lack_line(replica, Kind.LOADS):
            return None
        why: Refused | None = Refused(-1, 0, "the broker has another line before it starts again")
        log_end = int(after.leo[replica])
        reached = min(int(after.checkpoint[replica]), log_end)
        if name == "Stop" and all(seen.is_clean is False for _, seen, _ in ahead):
            return Refused(replica, ahead[0][0], "the start finds that it was no shutdown")
        if self._makes_logs_anew:  # It may be another one that the start finds.
            return None if any(seen.kind is Kind.LOADS for _, seen, _ in ahead) else why
        for line, seen, behind in ahead:
            if seen.kind is not Kind.LOADS:
                continue
            why = None
            if seen.high_watermark not in (None, reached):
                read = seen.high_watermark
                what = f"high watermark is {read} in the line and {reached} in the model"
                why = Refused(replica, line, what)
                continue
            roles = list(course.next_of(behind))
            for at, role, _ in roles if len(roles) == 1 else ():
                if role.kind in (Kind.LEADS, Kind.FOLLOWS) and role.offset != log_end:
                    what = f"offset is {role.offset} in the line and {log_end} in the model"
                    why = Refused(replica, at, what)
            if why is None:
                return None
        return why

    def _may_lack_line(self, replica: int, kind: Kind) -> bool:
        """True if the broker may have done so without a line that was read: no server.log."""
        if kind in (Kind.LEADS, Kind.FOLLOWS):
            return False
        return replica not in self.history.with_server_log

    def _lines_written(self, before: Any, call: Call, after: Any) -> Iterator[_Line]:
        """Yield the lines that replicas write at this step, in order: replica, kind, content."""
        name, arguments = call
        actor = arguments[0] if arguments else 0
        if name in _LEARNS:
            yield from self._of_learning(before, after, actor)
        elif name in _TRUNCATES and after.leo[actor] < before.leo[actor]:
            yield actor, Kind.TRUNCATES, {"offset": int(after.leo[actor])}
        elif name in _SHRINKS:
            yield self._of_shrinking(before, after, actor)
            yield from _of_isr(before, after)  # Before KIP-497, at once.
        elif name in _OF_ISR:
            yield from _of_isr(before, after)
        elif name == "Restart":
            if not self.history.reassignments or contains(before.assigned, actor):
                yield actor, Kind.LOADS, {"high_watermark": int(after.hw[actor])}
        elif name == "BeginShutdown":
            yield actor, Kind.STOPS, {}

    def _of_learning(self, before: Any, after: Any, r: int) -> Iterator[_Line]:
        if after.known_epoch[r] == before.known_epoch[r]:
            return  # A change within the epoch, of which no line of this kind tells.
        if self.history.reassignments and not contains(before.assigned, r):
            yield r, Kind.DELETES, {}
            return
        if self.history.reassignments and before.known_epoch[r] == NO_EPOCH and before.leo[r] == 0:
            yield r, Kind.LOADS, {"high_watermark": 0}
        facts: dict[str, object] = {
            "epoch": int(after.known_epoch[r]),
            "offset": int(before.leo[r]),
            "high_watermark": int(before.hw[r]),
            "leader": int(before.leader),
        }
        if before.leader != r:
            yield r, Kind.FOLLOWS, facts
            return
        yield r, Kind.LEADS, facts | {"isr": members_of(int(before.isr), before.replicas)}

    def _of_shrinking(self, before: Any, after: Any, leader: int) -> _Line:
        asked = after.pending_isr[leader] or after.known_isr[leader]
        return (
            leader,
            Kind.ASKS_TO_SHRINK,
            {
                "isr": members_of(int(asked), before.replicas),
                "offset": int(before.leo[leader]),
                "high_watermark": int(before.hw[leader]),
            },
        )


def _difference(seen: Observation, replica: int, kind: Kind, facts: Mapping[str, object]) -> str:
    """Why a line is not the one with these facts, "" if it is."""
    if seen.kind is not kind:
        return f"the model's r{replica} {kind.value}"
    for name, value in facts.items():
        observed = getattr(seen, name)
        if observed is not None and observed != value:
            return f"{name.replace('_', ' ')} is {observed} in the line and {value} in the model"
    return ""


def _next_epochs(course: Course, last: int) -> tuple[int, ...]:
    """Return, for each position, the least epoch of the lines still to come."""
    found: list[int] = [last] * len(course.nexts)
    for position in range(len(course.nexts) - 2, -1, -1):
        found[position] = min(
            min(found[after], found[after] if seen.epoch is None else seen.epoch)
            for _, seen, after in course.next_of(position)
        )
    return tuple(found)


def _of_isr(before: Any, after: Any) -> Iterator[_Line]:
    """A leader that goes by another ISR than before, without having learned of another epoch."""
    for r in range(before.replicas):
        if before.role[r] != LEADER or after.role[r] != LEADER:
            continue
        new = after.known_isr[r]
        if before.known_isr[r] != new:
            yield r, Kind.CHANGES_ISR, {"isr": members_of(int(new), before.replicas)}


def decided_in(s: Any, *, with_replicas: bool) -> tuple[object, ...]:
    """Return the controller's decision, as `Observation.state` has it."""
    sets = ("isr", *(_ASSIGNMENT if with_replicas else ()))
    members = (members_of(int(getattr(s, name)), s.replicas) for name in sets)
    return (int(s.epoch), int(s.leader), *members)


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
    """The dead ends of a history, in the states of a layout: their next lines can never be written.

    Each rule names a fact that no step can change before the line. docs/incidents.md has the
    argument for each; random walks of the model attack them (tests/kafka/logs/test_walks_fit.py).
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
        log_end, watermark = value_of(leo, words), value_of(hw, words)
        if lines.log_end is not None and log_end > lines.log_end:
            return "the model's log is longer by then"
        if value_of(role, words) == LEADER:
            if lines.watermark is not None and watermark > lines.watermark:
                return "the model's high watermark is higher by then"
            read = lines.checkpoint
            if read is not None and watermark > read and value_of(checkpoint, words) != read:
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
        if (
            value_of(role, words) not in (TRUNCATING, FETCHING)
            or value_of(fetch, words) in _ANSWERS
        ):
            return False
        leader, epoch = value_of(known_leader, words), value_of(known_epoch, words)
        _, _, its_role, its_epoch, _, _, is_up, _ = self._elements[leader]
        leads = (
            value_of(is_up, words) == 1
            and value_of(its_role, words) == LEADER
            and value_of(its_epoch, words) == epoch
        )
        return not leads and epoch not in self._ahead[leader][positions[leader]].leads


def value_of(element: Element, words: StateWords) -> int:
    """An element of a field that is always alive."""
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
