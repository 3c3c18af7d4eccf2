"""Answers for a whole cluster: each situation is explored once for all of its partitions."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from waterline.checker.kafka.now.further import (
    MOVED,
    NOTHING,
    SHUT_DOWN,
    Event,
    Findings,
    Loss,
    further_faults,
)
from waterline.checker.kafka.now.histories import states_of_move, taken_out
from waterline.checker.kafka.now.partitions import REPLICAS_MAX, Cluster, PartitionNow
from waterline.checker.kafka.now.situation import Situation
from waterline.checker.problem.wording import quantity

Ask = Callable[[Situation, Event], Findings]


@dataclass(frozen=True, slots=True)
class Harm:
    """Names of partitions that are unavailable, refuse writes, or lose acknowledged records.

    `losing` has the fewest further faults, by partition. `unknown` has reasons, by partition.
    """

    unavailable: tuple[str, ...]
    refusing: tuple[str, ...]
    losing: dict[str, Findings] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)


def event_at(
    partition: PartitionNow, brokers: Collection[int], kind: str, down: Collection[int]
) -> Event:
    """Return what the loss of these brokers is for a partition."""
    places = [p for p, b in enumerate(partition.brokers) if b in brokers and b not in down]
    return Event(kind, tuple(places)) if places else NOTHING


def harm_of(
    cluster: Cluster, ask: Ask, brokers: Collection[int] = (), kind: str = SHUT_DOWN
) -> Harm:
    """Return the harm now; with brokers, while these are away."""
    harm = Harm((), ())
    unavailable, refusing = [], []
    for each in cluster.partitions:
        if each.situation is None:
            harm.unknown[each.name] = each.reason
            continue
        event = event_at(each, brokers, kind, cluster.down)
        if each.targets:
            event = Event(MOVED, (each.targets,))
        after = situations_after(each.situation, event)
        if each.situation.brokers > REPLICAS_MAX:
            count = quantity(each.situation.brokers, "broker")
            found = Findings(unknown=f"{count} take part in its move, of at most {REPLICAS_MAX}")
        elif not after:
            found = Findings(unknown="Kafka refuses its move now")
        else:
            found = ask(each.situation, event)
        if found.unknown:
            harm.unknown[each.name] = found.unknown
        if found.losses:
            harm.losing[each.name] = found
        if not all(then.is_available for then in after):
            unavailable.append(each.name)
        elif any(then.refuses_writes for then in after):
            refusing.append(each.name)
    return replace(harm, unavailable=tuple(unavailable), refusing=tuple(refusing))


def situations_after(situation: Situation, event: Event) -> list[Situation]:
    """Return what a partition looks like after an event; a reassignment has a beginning and an end.

    None if Kafka refuses it.
    """
    if event.kind == MOVED:
        return [then for then, _ in states_of_move(situation, event.places[0])]
    return [taken_out(situation, event.places)]


@dataclass(frozen=True, slots=True)
class Difference:
    """Partitions that are worse off than before; `unknown` ones may be."""

    unavailable: tuple[str, ...]
    refusing: tuple[str, ...]
    losing: dict[str, tuple[Loss, ...]]
    unknown: dict[str, str]

    @property
    def is_harmless(self) -> bool:
        """True if none is known to be worse off."""
        return not (self.unavailable or self.refusing or self.losing)


def difference(before: Harm, after: Harm) -> Difference:
    """Return what is worse afterwards; a fault that lost records before does not count."""
    losing = {}
    for name, found in after.losing.items():
        known = (
            {each.faults for each in before.losing[name].losses} if name in before.losing else ()
        )
        new = [each for each in found.losses if not any(_within(k, each.faults) for k in known)]
        if new:
            losing[name] = tuple(new)
    stopped = {*before.unavailable, *before.refusing}
    return Difference(
        tuple(name for name in after.unavailable if name not in before.unavailable),
        tuple(name for name in after.refusing if name not in stopped),
        losing,
        after.unknown,
    )


def _within(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    return all(few.count(fault) <= many.count(fault) for fault in few)


def recovered_cluster(cluster: Cluster) -> Cluster:
    """Return the cluster with all brokers up, all replicas in sync, and preferred leaders."""
    partitions = [
        each
        if each.situation is None
        else replace(
            each,
            situation=each.situation.at_start,
        )
        for each in cluster.partitions
    ]
    return replace(cluster, partitions=tuple(partitions), down=frozenset())


@dataclass(frozen=True, slots=True)
class RestartOrder:
    """An order of restarts: brokers that may be restarted now, and those that may once all replicas
    are in sync. `refused` may not even then, `unsure` are not explored to the end.
    """

    now: tuple[int, ...]
    later: tuple[int, ...]
    refused: dict[int, Difference]
    unsure: tuple[int, ...]


def restart_order(cluster: Cluster, ask: Ask) -> RestartOrder:
    """Return an order of restarts of the brokers that are up.

    Brokers with replicas out of sync come first: a restart may cure them.
    """
    now, later, unsure, refused = [], [], [], {}
    well = recovered_cluster(cluster)
    for broker in sorted(cluster.racks):
        is_safe, is_known, found = _may_restart(cluster, ask, broker)
        if is_safe and is_known:
            now.append(broker)
            continue
        is_safe, is_known, found = _may_restart(well, ask, broker)
        if not is_safe:
            refused[broker] = found
        elif is_known:
            later.append(broker)
        else:
            unsure.append(broker)
    now.sort(key=lambda broker: -_out_of_sync(cluster, broker))
    return RestartOrder(tuple(now), tuple(later), refused, tuple(unsure))


def _may_restart(cluster: Cluster, ask: Ask, broker: int) -> tuple[bool, bool, Difference]:
    mine = replace(cluster, partitions=tuple(p for p in cluster.partitions if broker in p.brokers))
    found = difference(harm_of(mine, ask), harm_of(mine, ask, (broker,)))
    return found.is_harmless, not found.unknown, found


def _out_of_sync(cluster: Cluster, broker: int) -> int:
    return sum(
        each.situation is not None
        and broker in each.brokers
        and not each.situation.isr >> each.brokers.index(broker) & 1
        for each in cluster.partitions
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Findings about a cluster: the harm now, and after an event, or an order of restarts."""

    title: str
    cluster: Cluster
    faults: int
    question: str = ""
    before: Harm | None = None
    after: Harm | None = None
    order: RestartOrder | None = None

    @property
    def is_bad(self) -> bool:
        """True if one fault loses a record; after an event, if a partition is worse off."""
        if self.cluster.dangers:
            return True
        if self.order is not None:
            return bool(self.order.refused)
        assert self.before is not None
        if self.after is not None:
            return not difference(self.before, self.after).is_harmless
        return any(len(x.faults) <= 1 for f in self.before.losing.values() for x in f.losses)

    @property
    def is_known(self) -> bool:
        """True if everything was explored."""
        if self.order is not None:
            return not self.order.unsure
        harm = self.after or self.before
        return harm is not None and not harm.unknown


def asker(note: Callable[[str], None], *, faults: int, uses_kept: bool) -> Ask:
    """Return a function that explores a question once."""
    known: dict[tuple[Situation, Event], Findings] = {}

    def ask(situation: Situation, event: Event) -> Findings:
        if (situation, event) not in known:
            known[situation, event] = further_faults(
                situation, event, faults=faults, note=note, uses_kept=uses_kept
            )
        return known[situation, event]

    return ask
