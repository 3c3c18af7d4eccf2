"""Decisions of controllers about a partition: their lines and the metadata log, joined by number.

What the lines of brokers say comes first. A controller of KRaft writes its line before the decision
is committed: it counts only if a broker has a line of that decision, or of a later one in the same
run of decisions. From the first contradiction on nothing counts.

A decision has a partition epoch, one more than the decision before. A leader's first line of an
epoch has it, with KRaft any broker's line about a change within the epoch, and so have the lines of
controllers. As long as none is missing, the decisions of a behaviour are these, in this order.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from waterline.checker.kafka.logs.observation import (
    CONTROLLER,
    Change,
    Kind,
    Observation,
    PartitionState,
    Place,
)

_OF_BROKERS = (Kind.LEADS, Kind.FOLLOWS, Kind.KNOWS, Kind.CHANGES_ISR)


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions that count, as observations of the controller, in order; why others do not."""

    observations: tuple[Observation, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim about the state after a decision. `writer` is None for a broker."""

    state: PartitionState
    place: Place
    writer: str | None
    inherits: bool
    """True if the fields that it does not give are as before."""


def decided_by_controllers(
    changes: Iterable[Change], by_broker: Mapping[int, Sequence[Observation]]
) -> Decisions:
    """Join what controllers say of a partition. Never raises: what is doubtful is left out."""
    kept, notes = _of_last_topic(changes)
    chains = _chains(kept)
    if not chains:
        return Decisions(notes=tuple(notes))
    claims = _claims(chains, by_broker)
    leaders = _leaders(by_broker)
    states: dict[int, PartitionState] = {}
    for number in sorted(claims):
        found = _join(claims[number], states.get(number - 1), leaders)
        if isinstance(found, str):
            notes.append(f"{found}; decisions from partition epoch {number} on are not used")
            break
        if found.is_whole:
            states[number] = found
    confirmed = _confirmed_decisions(chains, claims, states)
    certain = _certain(claims, states, confirmed)
    observations, doubtful = [], []
    for number, state in sorted(states.items()):
        # What a broker says of a whole decision is read where its lines are.
        said = [c for c in claims[number] if c.inherits]
        at = next((c.place for c in said if c.writer is not None), said[0].place if said else None)
        if at is not None and number in certain:
            observations.append(_observation(number, state, at))
        elif at is not None:
            doubtful.append((number, at))
    if doubtful:
        number, at = doubtful[0]
        notes.append(
            f"{at}: no broker has a line of partition epoch {number}, or of a later one that it is "
            "known with, so that the decision need not have been committed; it is not used"
        )
    return Decisions(tuple(observations), tuple(notes))


def _of_last_topic(changes: Iterable[Change]) -> tuple[list[Change], list[str]]:
    """Return the changes of the last topic of that name, if it was created more than once."""
    every = sorted(changes, key=lambda change: change.moment)
    ids = [change.topic_id for change in every if change.topic_id is not None]
    if len(set(ids)) < 2:
        return every, []
    first = next(change for change in every if change.topic_id == ids[-1])
    note = (
        f"{first.place}: the topic was created anew, with the id {ids[-1]}; older ones are left out"
    )
    return [change for change in every if change.topic_id in (None, ids[-1])], [note]


def _chains(changes: Iterable[Change]) -> dict[str, dict[int, Change]]:
    """The decisions of each writer by number. A number once more: what came after was withdrawn."""
    chains: dict[str, dict[int, Change]] = defaultdict(dict)
    for change in changes:
        chain = chains[change.writer]
        if change.number in chain and chain[change.number].state != change.state:
            for later in [each for each in chain if each > change.number]:
                del chain[later]
        chain[change.number] = change
    return chains


def _claims(
    chains: Mapping[str, Mapping[int, Change]], by_broker: Mapping[int, Sequence[Observation]]
) -> dict[int, list[_Claim]]:
    claims: dict[int, list[_Claim]] = defaultdict(list)
    for seen in (each for observed in by_broker.values() for each in observed):
        if seen.partition_epoch is None or seen.kind not in _OF_BROKERS:
            continue
        # Who changes the ISR leads, before and afterwards.
        changes_isr = seen.kind is Kind.CHANGES_ISR
        leader = seen.broker if changes_isr else seen.leader
        state = seen.state._replace(leader=leader)
        claims[seen.partition_epoch].append(_Claim(state, seen.place, None, changes_isr))
    for writer, chain in chains.items():
        for number, change in chain.items():
            claims[number].append(_Claim(change.state, change.place, writer, True))
            if number > 0 and change.before != PartitionState():
                claims[number - 1].append(_Claim(change.before, change.place, writer, False))
    return claims


def _leaders(by_broker: Mapping[int, Sequence[Observation]]) -> dict[int, _Claim]:
    """Return the leader of each epoch, by brokers' lines."""
    found: dict[int, _Claim] = {}
    for seen in (each for observed in by_broker.values() for each in observed):
        if seen.epoch is not None and seen.leader is not None:
            state = PartitionState(seen.epoch, seen.leader)
            found.setdefault(seen.epoch, _Claim(state, seen.place, None, False))
    return found


def _join(
    claims: Sequence[_Claim], before: PartitionState | None, leaders: dict[int, _Claim]
) -> PartitionState | str:
    """The state after a decision, as far as it is known; or the two lines that differ."""
    joined: list[_Claim] = []
    known = before or PartitionState()
    for claim in claims:
        state = claim.state
        if claim.inherits:
            state = state.over(PartitionState(known.epoch, known.leader, known.isr))
        whole = _Claim(state, claim.place, claim.writer, claim.inherits)
        others = joined + ([leaders[state.epoch]] if state.epoch in leaders else [])
        for other in others:
            if state.contradicts(other.state):
                return _difference(whole, other)
        joined.append(whole)
    found = PartitionState()
    for each in joined:
        found = found.over(each.state)
    # A reassignment has a line of its own. Of the ELR few lines say that it has changed.
    found = found.over(known._replace(epoch=None, leader=None, isr=None, elr=None))
    if found.epoch in leaders and found.contradicts(leaders[found.epoch].state):
        return _difference(_Claim(found, claims[0].place, None, False), leaders[found.epoch])
    if before is not None and found.epoch is not None and found.epoch < (before.epoch or 0):
        return f"{claims[0].place} has leader epoch {found.epoch} after {before.epoch}"
    return found


def _difference(one: _Claim, other: _Claim) -> str:
    return f"{one.place} says {_words(one.state)}, and {other.place} {_words(other.state)}"


def _words(state: PartitionState) -> str:
    said = [f"epoch {state.epoch}"] if state.epoch is not None else []
    if state.leader is not None:
        said.append(f"leader {state.leader}" if state.leader >= 0 else "no leader")
    if state.isr is not None:
        said.append(f"ISR {list(state.isr)}")
    return ", ".join(said)


def _confirmed_decisions(
    chains: Mapping[str, Mapping[int, Change]],
    claims: Mapping[int, Sequence[_Claim]],
    states: Mapping[int, PartitionState],
) -> set[int]:
    """Numbers of decisions that were committed: with each so was what the same log has before it.

    `states` are those before the first contradiction.
    """
    found: set[int] = set()
    for chain in chains.values():
        following = False
        for number in sorted(chain, reverse=True):
            by_broker = any(claim.writer is None for claim in claims[number])
            linked = following and number + 1 in chain
            following = number in states and (linked or by_broker)
            if following or (number in states and chain[number].is_committed):
                found.add(number)
    return found


def _certain(
    claims: Mapping[int, Sequence[_Claim]],
    states: Mapping[int, PartitionState],
    confirmed: set[int],
) -> set[int]:
    """Return the decisions that copy nothing from a decision that may be uncommitted."""
    found: set[int] = set()
    for number in sorted(states):
        known = [c for c in claims[number] if c.writer is None or number in confirmed]
        if known and (number - 1 in found or any(c.state.is_whole for c in known)):
            found.add(number)
    return found


def _observation(number: int, state: PartitionState, place: Place) -> Observation:
    return Observation(
        broker=CONTROLLER,
        kind=Kind.DECIDES,
        place=place,
        partition_epoch=number,
        **state._asdict(),
    )


_WHOLE = (Kind.LEADS, Kind.KNOWS, Kind.DECIDES)
_FIELDS = 6
"""Number of fields of a state: leader epoch, leader, ISR, replicas, those being added and removed.
"""


def decisions_of(
    by_broker: Mapping[int, Sequence[Observation]], first_epoch: int, last_epoch: int
) -> tuple[Observation, ...]:
    """Changes of leader epoch, leader or ISR after the beginning of the first epoch, in order.

    Changes of the replicas as well, where every one of these decisions says which there are.
    They end before the first that no line tells of. Empty where two lines differ, or none tells of
    the beginning.
    """
    known = _decisions_by_number(by_broker)
    leads = [
        each
        for observed in by_broker.values()
        for each in observed
        if each.kind is Kind.LEADS and each.epoch == first_epoch
    ]
    begin = min(
        (n for o in leads if (n := o.partition_epoch) is not None and n in known), default=None
    )
    if begin is None:
        decided = beginning_of(by_broker, first_epoch)
        # A leader's line without a number has the ISR with which a search begins.
        if decided is not None and all(_state(o) == _state(decided) for o in leads[:1]):
            begin = decided.partition_epoch
    if begin is None:
        return ()
    run = [known[begin]]
    while (after := known.get(begin + len(run))) and (after.epoch or 0) <= last_epoch:
        run.append(after)
    if any(None in each.state[:_FIELDS] for each in run):
        run = [replace(each, replicas=None, adding=None, removing=None) for each in run]
    return tuple(
        after
        for before, after in itertools.pairwise(run)
        if before.state[:_FIELDS] != after.state[:_FIELDS]
    )


def beginning_of(by_broker: Mapping[int, Sequence[Observation]], epoch: int) -> Observation | None:
    """Return the decision that began an epoch, None if it is unknown.

    It is the partition's first decision, or the previous one is known and of an earlier epoch.
    """
    known = _decisions_by_number(by_broker)
    number = min((n for n, o in known.items() if o.epoch == epoch), default=None)
    if number is None:
        return None
    before = known.get(number - 1)
    is_first = number == 0 or (before is not None and (before.epoch or 0) < epoch)
    return known[number] if is_first else None


def _decisions_by_number(by_broker: Mapping[int, Sequence[Observation]]) -> dict[int, Observation]:
    """Decisions by number; empty where two lines differ."""
    known: dict[int, Observation] = {}
    for seen in (each for observed in by_broker.values() for each in observed):
        number = seen.partition_epoch
        if number is None or seen.kind not in _WHOLE:
            continue
        earlier = known.setdefault(number, seen)
        if _state(earlier) != _state(seen):
            return {}
        if earlier.replicas is None:
            known[number] = seen
    return known


def _state(seen: Observation) -> tuple[int | None, int | None, tuple[int, ...] | None]:
    return seen.epoch, seen.leader, seen.isr
