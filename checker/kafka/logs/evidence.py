"""Evidence: what lines alone show, without a model.

An epoch that a leader missed; offsets that were below a high watermark, and that the leader of a
later epoch, or the log of the broker itself, then lacked; records that were truncated; leaders that
were elected from outside the ISR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from waterline.checker.kafka.logs.controller_lines import UncleanElection
from waterline.checker.kafka.logs.history import leaders_told
from waterline.checker.kafka.logs.observation import Kind, Observation, Place, is_within, within
from waterline.checker.kafka.logs.reassigned import Reassigned, reassigned_in

ByBroker = Mapping[int, Sequence[Observation]]
_ROLES = (Kind.LEADS, Kind.FOLLOWS)
_SAYS_ISR = (Kind.LEADS, Kind.CHANGES_ISR, Kind.KNOWS, Kind.DECIDES)


@dataclass(frozen=True, slots=True)
class MissedEpoch:
    """A leader that led on in `epoch` from `known`, and did not hear of what was between."""

    broker: int
    known: int
    epoch: int
    leaders_between: tuple[tuple[int, int], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class AtRisk:
    """Offsets `first` to `last` that were below a high watermark and then left a log.

    The log is that of the leader that began `epoch`, or, if `epoch` is None, of a broker that
    truncated.
    """

    first: int
    last: int
    epoch: int | None
    broker: int
    watermark_at: Place
    lost_at: Place


@dataclass(frozen=True, slots=True)
class Truncated:
    """Offsets that a broker had and truncated: with acks=1 they were acknowledged."""

    first: int
    last: int
    broker: int
    place: Place


@dataclass(frozen=True, slots=True)
class Outside:
    """A leader that was not in the last ISR which a line of before has.

    `is_next`: no decision of the controller was between.
    """

    epoch: int
    leader: int
    place: Place
    isr: tuple[int, ...]
    isr_at: Place
    is_next: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Findings in the lines of some epochs.

    `unclean` are elections that a controller reports as unclean, `outside` those that look unclean.
    """

    missed: tuple[MissedEpoch, ...] = ()
    at_risk: tuple[AtRisk, ...] = ()
    truncated: tuple[Truncated, ...] = ()
    unclean: tuple[UncleanElection, ...] = ()
    outside: tuple[Outside, ...] = ()
    reassigned: tuple[Reassigned, ...] = ()
    reassigned_elsewhere: tuple[Reassigned, ...] = ()
    """Reassignments in other epochs."""
    noted: tuple[Observation, ...] = ()
    """Lines that are shown with their meaning."""
    min_isr: tuple[int, Place] | None = None
    """Lower bound of min.insync.replicas: a leader reports an ISR below it, or the partition has
    eligible leader replicas besides its ISR."""


def evidence_of(
    by_broker: ByBroker,
    unclean: Iterable[UncleanElection] = (),
    first: int | None = None,
    last: int | None = None,
) -> Evidence:
    """All that these lines show. Raises `BadLogs` where two lines differ in who led."""
    inside = {broker: list(within(lines, first, last)) for broker, lines in by_broker.items()}
    told = tuple(
        each for each in unclean if each.epoch is None or is_within(each.epoch, first, last)
    )
    reassigned = reassigned_in(by_broker, first, last)
    known = {each.place for each in reassigned}
    ever = reassigned_in(by_broker, None, None)
    return Evidence(
        missed=_missed_epochs(leaders_told(by_broker), inside),
        at_risk=at_risk(inside),
        truncated=tuple(_truncations(inside)),
        unclean=told,
        outside=tuple(
            each
            for each in _outside_isr(by_broker, inside)
            if all(election.leader != each.leader for election in told)
        ),
        reassigned=reassigned,
        reassigned_elsewhere=tuple(each for each in ever if each.place not in known),
        noted=tuple(
            seen
            for lines in inside.values()
            for seen in lines
            if seen.kind in (Kind.NOTES, Kind.REASSIGNS)
        ),
        min_isr=max(
            (
                (len(seen.isr) + 1, seen.place)
                for observed in by_broker.values()
                for seen in observed
                if (seen.is_below_min_isr or seen.elr) and seen.isr is not None
            ),
            key=lambda found: found[0],
            default=None,
        ),
    )


def _missed_epochs(leaders: Mapping[int, int], inside: ByBroker) -> tuple[MissedEpoch, ...]:
    """Return the leaders that led on after an epoch of another leader, by their lines."""
    found = []
    for broker, observed in inside.items():
        for seen in observed:
            known = seen.previous_epoch
            if seen.kind is not Kind.LEADS or known is None or known < 0 or seen.epoch is None:
                continue
            if leaders.get(known) != broker:
                continue
            between = tuple(
                (epoch, leaders[epoch])
                for epoch in range(known + 1, seen.epoch)
                if leaders.get(epoch, broker) != broker
            )
            if between:
                found.append(MissedEpoch(broker, known, seen.epoch, between, seen.place))
    return tuple(found)


def at_risk(inside: ByBroker) -> tuple[AtRisk, ...]:
    """Return the offsets below a high watermark that a later leader began below, or a broker cut.

    A broker's first line of an epoch has the high watermark from an earlier epoch. A later line
    does not, if the broker restarted within the epoch; nor does the first line of all, because
    lines before it may be missing.
    """
    every = [o for observed in inside.values() for o in observed]
    marks = [o for observed in inside.values() for o in _first_of_epochs(observed)]
    found = []
    for begun in (o for o in every if o.kind is Kind.LEADS):
        assert begun.epoch is not None
        assert begun.offset is not None
        before = [o for o in marks if (o.epoch or 0) <= begun.epoch]
        highest = max(before, key=lambda o: o.high_watermark or 0, default=begun)
        if (mark := highest.high_watermark or 0) > begun.offset:
            found.append(
                AtRisk(
                    begun.offset, mark - 1, begun.epoch, begun.broker, highest.place, begun.place
                )
            )
    for broker, observed in inside.items():
        for cut in _cut_below(broker, observed):
            if not any(each.first <= cut.first and cut.last <= each.last for each in found):
                found.append(cut)
    return tuple(found)


def _first_of_epochs(observed: Iterable[Observation]) -> Iterator[Observation]:
    """A broker's lines of an epoch that is higher than all before, but the first line of all."""
    highest: int | None = None
    for seen in observed:
        if seen.epoch is None or seen.high_watermark is None:
            continue
        if highest is not None and seen.epoch > highest:
            yield seen
        highest = max(seen.epoch, seen.epoch if highest is None else highest)


def _cut_below(broker: int, observed: Sequence[Observation]) -> Iterator[AtRisk]:
    """Truncations below what the same process has said that its high watermark was."""
    mark: Observation | None = None
    for seen in observed:
        if seen.kind is Kind.TRUNCATES and seen.offset is not None:
            if mark is not None and (mark.high_watermark or 0) > seen.offset:
                last = (mark.high_watermark or 0) - 1
                yield AtRisk(seen.offset, last, None, broker, mark.place, seen.place)
            mark = None
        elif seen.kind in (Kind.LOADS, Kind.DELETES) or mark is None:
            keeps = mark if seen.kind is not Kind.DELETES else None
            mark = seen if seen.high_watermark is not None else keeps
        elif (seen.high_watermark or 0) + (seen.kind in _ROLES) > (mark.high_watermark or 0):
            mark = seen


def _truncations(inside: ByBroker) -> Iterator[Truncated]:
    """Truncations of a log whose end the line of the role before says."""
    for broker, observed in inside.items():
        end = None
        for seen in observed:
            if seen.kind is Kind.TRUNCATES and seen.offset is not None:
                if end is not None and seen.offset < end:
                    yield Truncated(seen.offset, end - 1, broker, seen.place)
                end = None
            elif seen.kind in (Kind.LEADS, Kind.FOLLOWS):
                end = seen.offset


def _outside_isr(by_broker: ByBroker, inside: ByBroker) -> Iterator[Outside]:
    """Leaders that were not in the last ISR that a line of before has."""
    said: list[tuple[int, int, Observation]] = []
    for observed in by_broker.values():
        epoch = None
        for seen in observed:
            epoch = seen.epoch if seen.kind in (*_ROLES, Kind.DECIDES) else epoch
            if seen.isr is not None and epoch is not None and seen.kind in _SAYS_ISR:
                said.append((epoch, seen.partition_epoch or 0, seen))
    for begun in (o for each in inside.values() for o in each):
        if begun.kind is not Kind.LEADS or begun.epoch is None:
            continue
        # Of one epoch the last line of its leader is the last, in releases without numbers too.
        before = [each for each in enumerate(said) if each[1][0] < begun.epoch]
        if not before:
            continue
        _, (_, _, known) = max(before, key=lambda each: (each[1][0], each[1][1], each[0]))
        if known.isr and begun.broker not in (*known.isr, *(known.elr or ())):
            numbers = known.partition_epoch, begun.partition_epoch
            is_next = None not in numbers and numbers[1] == (numbers[0] or 0) + 1
            yield Outside(begun.epoch, begun.broker, begun.place, known.isr, known.place, is_next)
