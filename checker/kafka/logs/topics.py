"""A topic that was deleted and created anew: two histories of one name; only the last counts.

Topic ids show it, and so does the impossible: a leader epoch or a partition epoch that falls, a
broker that leads and follows in one epoch. A broker without such lines is cut by the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from waterline.checker.kafka.logs.observation import Change, Kind, Observation

_ROLES = (Kind.LEADS, Kind.FOLLOWS, Kind.KNOWS)


@dataclass(frozen=True, slots=True)
class LastTopic:
    """The lines about the last topic of a name; `topic_id` and `since` where there were more."""

    observed: dict[int, list[Observation]]
    topic_id: str | None = None
    since: int = 0
    note: str = ""

    def has(self, change: Change) -> bool:
        """True if a controller's decision is about this topic."""
        at = change.moment[0]
        return self.topic_id in (None, change.topic_id or self.topic_id) and (
            at == 0 or at >= self.since
        )


def of_last_topic(
    observed: Mapping[int, Sequence[Observation]], decided_ids: Sequence[str | None]
) -> LastTopic:
    """Leave out what is about an older topic of the same name.

    `decided_ids` are those of controllers' decisions, in order.
    """
    topic_id = _last_id(observed, decided_ids)
    cuts = {broker: _cut(lines, topic_id) for broker, lines in observed.items()}
    begun = [(observed[b][at], b) for b, at in cuts.items() if at and at < len(observed[b])]
    whole = {broker: list(lines) for broker, lines in observed.items()}
    if not any(cuts.values()):
        return LastTopic(whole)
    since = _since([seen for seen, _ in begun], whole, cuts)
    for broker, lines in observed.items():
        cut = cuts[broker]
        if cut is None:
            whole[broker] = [o for o in lines if o.span is None or o.span.start >= since]
        else:
            whole[broker] = list(lines[cut:])
    whole = {broker: lines for broker, lines in whole.items() if lines}
    first = min((seen for seen, _ in begun), key=_start, default=None)
    named = f", with the id {topic_id}" if topic_id else ""
    where = f"{first.place}: " if first else ""
    note = f"{where}the topic was created anew{named}; lines about the older one are left out"
    return LastTopic(whole, topic_id, since, note)


def _start(seen: Observation) -> int:
    return seen.span.start if seen.span else 0


def _last_id(
    observed: Mapping[int, Sequence[Observation]], decided_ids: Sequence[str | None]
) -> str | None:
    """The id of the last topic; None where no line has one."""
    decided = [each for each in decided_ids if each is not None]
    told = [(_start(o), o.topic_id) for lines in observed.values() for o in lines if o.topic_id]
    if told:
        return max(told)[1]
    return decided[-1] if decided else None


def _cut(lines: Sequence[Observation], topic_id: str | None) -> int | None:
    """Return where the last topic begins; None if these lines do not identify their topic."""
    at, known, before = 0, None, None
    for number, seen in enumerate(lines):
        if seen.kind not in _ROLES:
            continue
        is_new = seen.topic_id is not None and known not in (None, seen.topic_id)
        if before is not None and (is_new or _cannot_follow(before, seen)):
            at, known, before = number, None, None
        known = seen.topic_id or known
        before = seen
    if known is None:
        return at or None
    return at if known == topic_id else len(lines)


def _cannot_follow(before: Observation, seen: Observation) -> bool:
    if before.epoch is None or seen.epoch is None:
        return False
    numbers = before.partition_epoch, seen.partition_epoch
    falls = None not in numbers and (seen.epoch, numbers[1]) < (before.epoch, numbers[0])
    changes = {before.kind, seen.kind} == {Kind.LEADS, Kind.FOLLOWS}
    return seen.epoch < before.epoch or falls or (seen.epoch == before.epoch and changes)


def _since(
    begun: Sequence[Observation],
    observed: Mapping[int, Sequence[Observation]],
    cuts: Mapping[int, int | None],
) -> int:
    """Half-way between the lines about the older topic and those about the last."""
    older = [_start(o) for b, cut in cuts.items() if cut for o in observed[b][:cut]]
    newer = [_start(o) for o in begun] or [
        _start(o) for b, cut in cuts.items() if cut == 0 for o in observed[b]
    ]
    return (max(older, default=0) + min(newer)) // 2 if newer else max(older, default=0)
