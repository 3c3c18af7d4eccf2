"""Reassignments that lines tell of: which replicas there were, which were added and removed.

With a number each state of the partition is compared with the one before. Without one a line counts
that names replicas being added or removed, and a broker that deletes its log while others go on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from waterline.checker.kafka.logs.observation import (
    Kind,
    Observation,
    PartitionState,
    Place,
    within,
)

_STATES = (Kind.LEADS, Kind.KNOWS, Kind.DECIDES, Kind.REASSIGNS)


@dataclass(frozen=True, slots=True)
class Reassigned:
    """A change of the replicas, or of those being added or removed; `before` is the state before.

    Where no line has it, `before` is None. Of a broker that deletes its log both are None.
    """

    place: Place
    before: PartitionState | None
    after: PartitionState | None

    @property
    def is_request(self) -> bool:
        """True if the operator asked for it: it is neither an end nor a cancellation."""
        if self.before is None or self.after is None:
            return True
        return not (_moves(self.before) and not _moves(self.after))

    def __str__(self) -> str:
        if self.after is None:
            return f"a broker deleted its log ({self.place})"
        said = [_list_brokers("replicas", self.after.replicas)]
        said += [
            _list_brokers("adding", self.after.adding),
            _list_brokers("removing", self.after.removing),
        ]
        return f"{', '.join(filter(None, said))} ({self.place})"


def reassigned_in(
    by_broker: Mapping[int, Sequence[Observation]], first: int | None, last: int | None
) -> tuple[Reassigned, ...]:
    """The changes of replicas in these epochs, in order as far as they have numbers."""
    every = [seen for lines in by_broker.values() for seen in within(lines, first, last)]
    found = list(_number(every))
    if not found:
        found = [
            Reassigned(seen.place, None, seen.state)
            for seen in every
            if seen.kind is Kind.REASSIGNS or _moves(seen.state)
        ]
    deletions = _deletions(by_broker, first, last)
    return tuple(found or (Reassigned(seen.place, None, None) for seen in deletions))


def requests_in(reassigned: Iterable[Reassigned]) -> int:
    """Return the number of operators' requests; restoring a deleted log may have been one more."""
    return sum(each.is_request + (each.after is None) for each in reassigned)


def _number(every: Iterable[Observation]) -> Iterator[Reassigned]:
    known: dict[int, tuple[PartitionState, Place]] = {}
    for seen in every:
        if seen.partition_epoch is not None and seen.kind in _STATES:
            state, place = known.get(seen.partition_epoch, (seen.state, seen.place))
            known[seen.partition_epoch] = state.over(seen.state), place
    before: PartitionState | None = None
    for number in sorted(known):
        state, place = known[number]
        if before is not None:
            state = state.over(before) if number - 1 in known else state
            changes = _assignment(state).contradicts(_assignment(before))
        else:
            changes = _moves(state)
        if changes:
            yield Reassigned(place, before, state)
        before = state


def _assignment(state: PartitionState) -> PartitionState:
    return PartitionState(replicas=state.replicas, adding=state.adding, removing=state.removing)


def _moves(state: PartitionState) -> bool:
    return bool(state.adding or state.removing)


def _deletions(
    by_broker: Mapping[int, Sequence[Observation]], first: int | None, last: int | None
) -> Iterator[Observation]:
    """Deletions of a log that was made anew, or while another broker went on to a later epoch."""
    last_epochs = {
        broker: max((o.epoch for o in lines if o.epoch is not None), default=-1)
        for broker, lines in by_broker.items()
    }
    for broker, lines in by_broker.items():
        every = list(within(lines, first, last))
        others = [epoch for b, epoch in last_epochs.items() if b != broker]
        for seen, later in itertools.zip_longest(every, every[1:]):
            made_anew = later is not None and later.kind is Kind.LOADS
            left_alone = later is None and max(others, default=-1) > last_epochs[broker]
            if seen.kind is Kind.DELETES and (made_anew or left_alone):
                yield seen


def _list_brokers(what: str, brokers: Sequence[int] | None) -> str:
    return f"{what} {', '.join(map(str, brokers))}" if brokers else ""
