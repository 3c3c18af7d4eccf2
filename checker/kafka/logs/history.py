"""History of a partition in the model's numbers: replicas, leader epochs and offsets from 0.

Real epochs and offsets are large. The first epoch in the lines becomes 0; later ones keep their
distance, because a gap is a decision without a line. The first leader's log end at its beginning
becomes offset 0; the logs below it are assumed equal, and the report says so. Above it the offsets
in the lines are numbered in order, so a record of the model is the run of records between two of
them.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from waterline.checker.kafka.logs.controllers import beginning_of, decisions_of
from waterline.checker.kafka.logs.observation import CONTROLLER, BadLogs, Kind, Observation, within
from waterline.checker.kafka.logs.reassigned import Reassigned, reassigned_in, requests_in
from waterline.model.message.environment import EPOCHS_MAX, RECORDS_MAX, REPLICAS_MAX

ORDERS_MAX = 6
_NOT_FITTED = (
    *(Kind.HAS_EPOCHS, Kind.HAS_CHECKPOINT, Kind.KNOWS, Kind.CUTS_BELOW, Kind.FETCHES),
    *(Kind.NOTES, Kind.REASSIGNS),
)
"""Files that are not looked at in a search, and lines that are read for the decisions alone."""
_A_WHILE = 1_000_000_000
"""Nanoseconds after which a fetcher is not that of the leader before any more."""
_MAY_LACK = frozenset({Kind.CHANGES_ISR, Kind.DELETES, Kind.LOADS})


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Lines to fit, with their brokers, epochs and offsets.

    `brokers[i]` is the broker behind replica i of the model; the first leader is replica 0.
    `offsets[k]` is the offset that is k in the model. `observed[i]` are the observations of replica
    i, renumbered, in order; `sources[i]` are the originals. `leaders` maps an epoch to its leader
    by whatever line names it, -1 for none. `decisions` are the controller's, as long as every one
    has a line; `decision_sources` are the originals. `may_lack` are kinds of lines that a step may
    skip: a KRaft leader that reads an ISR change in the metadata log, before the controller's
    answer, writes no line.

    `noted` are lines to show, of each replica and then of the controllers, each with the number of
    the line to fit that follows it.

    `reassignments` is their number in the lines. If there are any, the first `assigned` brokers are
    the replicas when the first epoch begins.
    """

    brokers: tuple[int, ...]
    first_epoch: int
    last_epoch: int
    offsets: tuple[int, ...]
    observed: tuple[tuple[Observation, ...], ...]
    sources: tuple[tuple[Observation, ...], ...]
    leaders: Mapping[int, int]
    with_server_log: frozenset[int]
    decisions: tuple[Observation, ...] = ()
    decision_sources: tuple[Observation, ...] = ()
    noted: tuple[tuple[tuple[int, Observation], ...], ...] = ()
    may_lack: frozenset[Kind] = frozenset({Kind.CHANGES_ISR})
    reassignments: int = 0
    assigned: int = 0
    orders_left_out: bool = False
    """True if some orders were not tried: lines of one time have one order, or are cut off; or a
    file's order is not that of its times."""

    @property
    def lines(self) -> int:
        """Number of observations to fit."""
        return sum(map(len, self.observed))

    @property
    def restarts(self) -> int:
        """Number of lines about a broker that loads its log again, and does not create it anew."""
        return sum(
            seen.kind is Kind.LOADS and (before is None or before.kind is not Kind.DELETES)
            for observed in self.observed
            for before, seen in zip((None, *observed), observed, strict=False)
        )

    @property
    def gone_silently(self) -> int:
        """Number of brokers without a line about the last epoch or about their shutdown."""
        last = self.last_epoch - self.first_epoch
        return sum(
            bool(observed)
            and max((seen.epoch for seen in observed if seen.epoch is not None), default=0) < last
            and all(seen.kind is not Kind.STOPS for seen in observed)
            and observed[-1].kind is not Kind.DELETES
            for observed in self.observed
        )

    @property
    def shorter_logs(self) -> int:
        """Number of starts with a shorter log than an earlier line says, and no truncation between.

        Counts brokers with a server.log, which records truncations. 0 with reassignments, since
        they may create a log anew.
        """
        if self.reassignments:
            return 0
        return sum(_shorter_logs(self.observed[replica]) for replica in self.with_server_log)

    @property
    def has_shut_down(self) -> bool:
        """True if a start found that the process before it had shut down properly."""
        return any(seen.is_clean is True for observed in self.observed for seen in observed)

    @property
    def shutdowns(self) -> int:
        """Number of lines about a shutdown."""
        return sum(seen.kind is Kind.STOPS for observed in self.observed for seen in observed)


def _shorter_logs(observed: Sequence[Observation]) -> int:
    found, least, has_started = 0, 0, False
    for seen in observed:
        if seen.kind is Kind.LOADS:
            has_started = True
        elif seen.offset is not None:
            if has_started and seen.kind is not Kind.TRUNCATES and seen.offset < least:
                found += 1
            least, has_started = seen.offset, False
    return found


def leaders_told(by_broker: Mapping[int, Sequence[Observation]]) -> dict[int, int]:
    """Return the leader of each epoch, in Kafka's numbers. Raises `BadLogs` if two lines differ.

    If no line names a leader, it is the broker that others fetched from.
    """
    observed: dict[int, Observation] = {}
    for seen in (each for of_broker in by_broker.values() for each in of_broker):
        if seen.epoch is None or seen.leader is None:
            continue
        earlier = observed.setdefault(seen.epoch, seen)
        if earlier.leader != seen.leader:
            raise BadLogs(
                f"{seen.place} says that broker {seen.leader} leads epoch {seen.epoch}, "
                f"{earlier.place} that {earlier.leader} does: these are logs of two clusters, or "
                "of a topic that was created anew; name those of one"
            )
    told = {epoch: seen.leader for epoch, seen in observed.items() if seen.leader is not None}
    for of_broker in by_broker.values():
        for epoch, leader in _fetched_from(of_broker):
            told.setdefault(epoch, leader)
    return told


def _fetched_from(observed: Sequence[Observation]) -> Iterator[tuple[int, int]]:
    """Yield a follower's epochs with the leader that it fetched from a while later."""
    role: Observation | None = None
    for seen in observed:
        if seen.kind in (Kind.LEADS, Kind.FOLLOWS):
            role = seen
        elif seen.kind is Kind.LOADS:
            role = None
        elif seen.kind is Kind.FETCHES and role is not None and role.kind is Kind.FOLLOWS:
            times = role.span, seen.span
            later = times[0] and times[1] and times[1].start >= times[0].end + _A_WHILE
            if later and role.epoch is not None and seen.leader is not None:
                yield role.epoch, seen.leader


def history_of(
    by_broker: Mapping[int, Sequence[Observation]],
    *,
    with_server_log: set[int],
    first_epoch: int | None = None,
    last_epoch: int | None = None,
    order: int = 0,
    is_zookeeper: bool = False,
    reassigned: Sequence[Reassigned] = (),
) -> History:
    """Renumber the observations of some epochs, by default all. Raises `BadLogs`.

    The controllers' lines are under `CONTROLLER`. Besides decisions, they name the replicas, and
    the first epoch's leader if no broker does; nothing else depends on them.

    `order` numbers a permutation of the brokers after the first leader. It stands for the order of
    assignment, which decides elections in the model and which lines do not show.
    """
    controllers = by_broker.get(CONTROLLER, ())
    everybody = by_broker
    by_broker = {b: seen for b, seen in everybody.items() if b != CONTROLLER}
    first, last, leaders = _window(by_broker, controllers, first_epoch, last_epoch)
    begins, members = _beginning(by_broker, first)
    initial, added = _replicas(everybody, leaders, first, last, members, is_moved=bool(reassigned))
    others = sorted(initial - {leaders[first]})
    orders = list(itertools.islice(itertools.permutations(others), ORDERS_MAX))
    brokers = (leaders[first], *orders[order % len(orders)], *sorted(added))
    if len(brokers) > REPLICAS_MAX:
        raise BadLogs(f"{len(brokers)} brokers; at most {REPLICAS_MAX} replicas are searched")
    is_fitted = [kind for kind in Kind if kind not in _NOT_FITTED]
    if not reassigned:
        is_fitted.remove(Kind.DELETES)
    kept = {b: _within(by_broker.get(b, ()), first, last, is_fitted) for b in brokers}
    orders_left_out = any(
        _is_cut_in_band(by_broker.get(b, ()), kept[b], is_fitted) for b in brokers
    )
    orders_left_out |= any(seen.is_moved for each in kept.values() for seen in each)
    offsets = _offsets_of(kept, begins, is_moved=bool(reassigned))
    number = {broker: replica for replica, broker in enumerate(brokers)}
    sources = tuple(
        _after_beginning(kept[b], first, begins) if b in initial else tuple(kept[b])
        for b in brokers
    )
    observed = tuple(
        tuple(_renumber(seen, first, offsets, number) for seen in each) for each in sources
    )
    decided = decisions_of(everybody, first, last)
    return History(
        brokers=brokers,
        first_epoch=first,
        last_epoch=last,
        offsets=offsets,
        observed=observed,
        sources=sources,
        leaders={
            epoch - first: number[leader] if leader >= 0 else -1
            for epoch, leader in leaders.items()
            if first <= epoch <= last
        },
        with_server_log=frozenset(number[b] for b in with_server_log if b in number),
        decisions=tuple(_renumber(seen, first, offsets, number) for seen in decided),
        decision_sources=decided,
        noted=(
            *(
                tuple(_notes_of(within(by_broker.get(b, ()), first, last), lines))
                for b, lines in zip(brokers, sources, strict=True)
            ),
            tuple(_notes_of(controllers, decided)),
        ),
        may_lack=_MAY_LACK
        if reassigned
        else frozenset(set() if is_zookeeper else {Kind.CHANGES_ISR}),
        reassignments=requests_in(reassigned),
        assigned=len(initial) if added else 0,
        orders_left_out=orders_left_out,
    )


def _window(
    by_broker: Mapping[int, Sequence[Observation]],
    controllers: Sequence[Observation],
    first_epoch: int | None,
    last_epoch: int | None,
) -> tuple[int, int, dict[int, int]]:
    """The first epoch, the last, and who led each, of the first surely. Raises `BadLogs`."""
    leaders = leaders_told(by_broker)
    epochs = {o.epoch for observed in by_broker.values() for o in observed if o.epoch is not None}
    if not epochs:
        raise BadLogs("no line says who leads or follows; state-change.log has those lines")
    first = min(epochs) if first_epoch is None else first_epoch
    last = max(epochs) if last_epoch is None else last_epoch
    if last - first > EPOCHS_MAX:
        raise BadLogs(
            f"the logs have epochs {first} to {last}; at most {EPOCHS_MAX} epochs are searched: "
            f"give --epochs {max(first, last - 6)}-{last}, or others of them"
        )
    if leaders.get(first, -1) < 0:
        leaders |= {
            o.epoch: o.leader for o in controllers if o.epoch == first and o.leader is not None
        }
    if leaders.get(first, -1) < 0:
        later = [e for e, leader in leaders.items() if leader >= 0 and first < e <= last]
        what = (
            f"begin at one of which a line says it: --epochs {min(later)}-{last}"
            if later
            else ("add state-change.log of its leader, or server.log of its followers")
        )
        raise BadLogs(f"no line says who led epoch {first}; {what}")
    return first, last, leaders


def _replicas(
    everybody: Mapping[int, Sequence[Observation]],
    leaders: Mapping[int, int],
    first: int,
    last: int,
    members: Sequence[int] | None,
    *,
    is_moved: bool,
) -> tuple[set[int], set[int]]:
    """The replicas as the first epoch begins, and brokers that become replicas later.

    A search begins where the replicas are all in sync. Without a reassignment every broker that the
    lines name is a replica; with one in other epochs than these, every one that is named in these.
    Raises `BadLogs`.
    """
    began = beginning_of(everybody, first)
    if members is None and began is not None:
        members = began.isr
    inside = {b: list(within(lines, first, last)) for b, lines in everybody.items()}
    of_brokers = {b: lines for b, lines in everybody.items() if b != CONTROLLER}
    if reassigned_in(everybody, None, None):
        of_brokers = {b: lines for b, lines in inside.items() if b != CONTROLLER}
        leaders = {epoch: b for epoch, b in leaders.items() if first <= epoch <= last}
    decided = inside.get(CONTROLLER, [])
    named = {b for b, lines in of_brokers.items() if lines} | set(leaders.values())
    named |= {seen.leader for seen in decided if seen.leader is not None}
    for seen in itertools.chain(decided, *of_brokers.values()):
        named |= {*(seen.isr or ()), *((seen.replicas or ()) if is_moved else ())}
    named.discard(-1)
    initial = named
    if is_moved:
        leads = [o for lines in of_brokers.values() for o in lines if o.epoch == first]
        moving = [o for o in (began, *leads[:1]) if o is not None and (o.adding or o.removing)]
        if moving:
            raise BadLogs(
                f"epoch {first} begins while replicas are reassigned ({moving[0].place}); begin at "
                "an epoch before or after that with --epochs"
            )
        initial = set((began.replicas if began is not None else None) or members or named)
    if members is not None and set(members) != initial:
        raise BadLogs(
            f"epoch {first} begins with the ISR {list(members)} of brokers {sorted(initial)}; a "
            "search begins where all are in sync: begin at another epoch with --epochs"
        )
    return initial, named - initial


def _beginning(
    by_broker: Mapping[int, Sequence[Observation]], first: int
) -> tuple[int, tuple[int, ...] | None]:
    """Return the first leader's log end and ISR at its beginning, by its own line; without that
    line the lowest log end of its followers.
    """
    ends: list[int] = []
    for seen in (o for observed in by_broker.values() for o in observed if o.epoch == first):
        if seen.kind is Kind.LEADS:
            return seen.offset or 0, seen.isr
        ends.append(seen.offset or 0)
    return min(ends, default=0), None


def _within(
    observed: Sequence[Observation], first: int, last: int, kinds: Collection[Kind]
) -> list[Observation]:
    """Return the lines from the first of epochs `first` to `last` up to a later epoch."""
    begun, kept = False, []
    for seen in observed:
        if seen.kind not in kinds:
            continue
        if seen.epoch is not None and seen.epoch > last:
            break
        begun = begun or (seen.epoch is not None and seen.epoch >= first)
        if begun:
            kept.append(seen)
    return kept


def _notes_of(
    every: Iterable[Observation], fitted: Sequence[Observation]
) -> Iterator[tuple[int, Observation]]:
    """Lines to show, each with the number of the fitted line that it stands before.

    Of controllers only lines of one file are in an order.
    """
    number = {seen.place: at for at, seen in enumerate(fitted)}
    before = 0
    for seen in every:
        before = number.get(seen.place, before - 1) + 1
        if seen.kind not in (Kind.NOTES, Kind.REASSIGNS) or (
            seen.kind is Kind.REASSIGNS and seen.place in number
        ):
            continue
        if seen.broker == CONTROLLER:
            behind = (o for o in fitted if o.place.file == seen.place.file)
            later = (number[o.place] for o in behind if o.place.line >= seen.place.line)
            before = next(later, len(fitted))
        yield before, seen


def _is_cut_in_band(
    every: Sequence[Observation], kept: Sequence[Observation], kinds: Collection[Kind]
) -> bool:
    """True if lines of one time with the first or the last that is kept may be on its other side.

    A start is surely before the first: it takes longer than a line.
    """
    if not kept:
        return False
    fitted = [seen for seen in every if seen.kind in kinds]
    first, last = kept[0], kept[-1]
    begun = fitted.index(first)
    outside = [o for o in fitted[:begun] if o.kind is not Kind.LOADS]
    outside += [o for o in kept[1:] if o.band == first.band]
    if any(o.band == first.band and o.stream != first.stream for o in outside):
        return True
    return any(o.band == last.band and o.stream != last.stream for o in fitted[begun + len(kept) :])


def _after_beginning(
    observed: Sequence[Observation], first: int, begins: int
) -> tuple[Observation, ...]:
    """Drop the line that led to the initial state."""
    if observed and observed[0].epoch == first and observed[0].offset == begins:
        return tuple(observed[1:])
    return tuple(observed)


def _offsets_of(
    kept: Mapping[int, Sequence[Observation]],
    begins: int,
    *,
    is_moved: bool,
) -> tuple[int, ...]:
    """Return the distinct offsets; logs are the same everywhere up to the first.

    The first is 0 if replicas are added, because their logs are empty. Raises `BadLogs`.
    """
    named = {begins}
    for seen in (each for observed in kept.values() for each in observed):
        named |= {o for o in (seen.offset, seen.high_watermark) if o is not None}
    below = sorted(o for o in named if o < begins)
    # A high watermark below the beginning says no more than that it lagged. A log end does.
    cut = [
        seen
        for observed in kept.values()
        for seen in observed
        if seen.offset is not None and seen.offset < begins
    ]
    if below and cut and is_moved:
        ends = {seen.offset for seen in cut if seen.offset is not None}
        named, begins = {o for o in named if o >= begins} | ends, 0
    elif below and cut:
        raise BadLogs(
            f"{cut[0].place}: offset {cut[0].offset} is below {begins}, with which the first "
            "leader began; begin at an earlier epoch with --epochs, or add older logs"
        )
    above = tuple(sorted({begins} | {o for o in named if o >= begins}))
    if len(above) - 1 > RECORDS_MAX:
        raise BadLogs(
            f"the lines name {len(above)} offsets; at most {RECORDS_MAX} runs of records are "
            "searched: name fewer epochs with --epochs"
        )
    return above


def _renumber(
    seen: Observation, first: int, offsets: Sequence[int], number: Mapping[int, int]
) -> Observation:
    def run(offset: int | None) -> int | None:
        return None if offset is None else max(0, bisect_right(offsets, offset) - 1)

    def replicas(brokers: Sequence[int] | None) -> tuple[int, ...] | None:
        if brokers is None or not number.keys() >= set(brokers):
            return None  # A replica that no line has anything more of.
        return tuple(sorted(number[b] for b in brokers))

    return replace(
        seen,
        broker=number.get(seen.broker, CONTROLLER),
        epoch=None if seen.epoch is None else seen.epoch - first,
        offset=run(seen.offset),
        high_watermark=run(seen.high_watermark),
        isr=replicas(seen.isr),
        replicas=replicas(seen.replicas),
        adding=replicas(seen.adding),
        removing=replicas(seen.removing),
        leader=number[seen.leader] if seen.leader is not None and seen.leader >= 0 else seen.leader,
        previous_epoch=None
        if seen.previous_epoch is None or seen.previous_epoch < first
        else seen.previous_epoch - first,
    )
