"""What the state leaves out follows from what it keeps: with and without, everything is the same.

Most tests walk small bounds, interpreted, with what was left out carried along beside the state and
changed as Kafka changes it, told apart by nothing but the step and the states before and after. At
every state that is reached the two are compared wherever a rule reads them. Where a model exists
that leaves nothing out, both are searched, compiled, and all depths compared.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

from tests.support.reached import reachable_states
from tests.support.states import model_of
from waterline import invariants
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.invariants import reachable
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model, Step
from waterline.model.message import roles
from waterline.model.message.epochs import latest_epoch
from waterline.model.message.features import ALTER_PARTITION, KRAFT, has
from waterline.model.message.partition_state import knows_partition
from waterline.model.message.terms import (
    DIVERGING,
    LEADER,
    NO_EPOCH,
    NO_REPLICA,
    UNKNOWN_OFFSET,
)
from waterline.model.message.truncation import end_offset_for, truncation_point


def walk_beside(
    model: Model, beside: Any, carried: Callable[[Model, State, Step, Any], Any]
) -> Iterator[tuple[State, Any]]:
    """Every reachable pair of a state and what is carried beside it, breadth first."""
    seen = {(state, beside): None for state in model.initial}
    queue = list(seen)
    for state, left_out in queue:
        yield state, left_out
        for step in model.successors(state):
            pair = (step.after, carried(model, state, step, left_out))
            if pair not in seen:
                seen[pair] = None
                queue.append(pair)


# Counters of the partition's changes and of registrations, of which the state keeps bits.

FAR = 3
"""A counter that is this much behind or more. One behind stays behind until it is set anew, since
what it is compared with only grows, so that nothing is lost by not telling 3 from 4."""


class Counters(NamedTuple):
    """How far behind the controller's each counter is; None for one that nobody holds.

    `partition[r]`: the partition epoch that leader r knows. `known_at[e]`: that with which leader
    epoch e ended, for whoever learns of it late. `stray`: the broker epoch in the fetch that has
    outlived its sender. `asked[r]`: that of the broker which leader r has asked to add.
    """

    partition: tuple[int | None, ...]
    known_at: tuple[int | None, ...]
    stray: int | None
    asked: tuple[int | None, ...]


def later(counter: int | None) -> int | None:
    """The same number after what it is compared with has grown by one."""
    return None if counter is None else min(FAR, counter + 1)


def added(s: State, leader: int) -> int:
    """The broker that the leader has asked to add, or nobody."""
    if s.role[leader] != LEADER or s.pending_isr[leader] == 0:
        return NO_REPLICA
    new = s.pending_isr[leader] & ~s.known_isr[leader]
    return new.bit_length() - 1 if new else NO_REPLICA


def partition_state(s: State) -> tuple[int, int, int, int]:
    """What the controller keeps of the partition: any change of it is a new partition epoch."""
    return s.leader, s.epoch, s.isr, s.elr


def writes_through(model: Model, before: State, step: Step) -> int:
    """The leader that hears in this very step of the ISR that it has had changed; nobody."""
    if before.isr == step.after.isr or before.epoch != step.after.epoch:
        return NO_REPLICA
    asks = has(model.settings, ALTER_PARTITION)
    name = step.action.name
    if name == "AlterPartition" or (name == "ShrinkIsr" and not asks):
        return step.arguments[0]
    if name == "LeaderFetch" and not asks:
        return int(before.known_leader[step.arguments[0]])
    return int(before.stray_to) if name == "StrayFetch" and not asks else NO_REPLICA


def counted(model: Model, before: State, step: Step, counters: Counters) -> Counters:
    """Partition epochs and broker epochs after a step, as Kafka counts them."""
    partition, known_at, stray, asked = map(_listed, counters)
    after, name, arguments = step.after, step.action.name, step.arguments
    replicas = range(after.replicas)
    if before.epoch != after.epoch:
        known_at[before.epoch] = 0
    if partition_state(before) != partition_state(after):
        partition, known_at = [*map(later, partition)], [*map(later, known_at)]
    for r in replicas:
        if after.role[r] != LEADER:
            partition[r] = None
        elif name == "Learn" and arguments[0] == r:
            partition[r] = 0
        elif name == "LearnLate" and arguments[0] == r:
            partition[r] = known_at[arguments[1]]
    if (writer := writes_through(model, before, step)) != NO_REPLICA:
        partition[writer] = 0

    carried = stray[0]
    stray[0] = None if after.stray_from == NO_REPLICA else 0 if carried is None else carried
    for leader in replicas:
        who = added(after, leader)
        if who == NO_REPLICA:
            asked[leader] = None
        elif added(before, leader) == NO_REPLICA:
            asked[leader] = carried if name == "StrayFetch" else 0
        if name == "Restart" and who == arguments[0]:
            asked[leader] = later(asked[leader])
    if name == "Restart" and after.stray_from == arguments[0]:
        stray[0] = later(stray[0])
    return Counters(tuple(partition), tuple(known_at), stray[0], tuple(asked))


def _listed(value: Any) -> list[int | None]:
    return list(value) if isinstance(value, tuple) else [value]


def fresh_counters(model: Model) -> Counters:
    """The initial leader knows the partition as it is."""
    s = model.initial[0]
    return Counters(
        tuple(0 if s.role[r] == LEADER else None for r in range(s.replicas)),
        (None,) * (s.epochs + 1),
        None,
        (None,) * s.replicas,
    )


BEHIND, ASKED, SENT = "behind within the epoch", "asked before it was new", "sent before it was new"
STRAYS = {"restarts": 1, "requests_survive": True, "session_expiries": 1}
LATE = {"restarts": 0, "moves": 1, "late_metadata": True, "session_expiries": 1}


BITS: list[tuple[str, dict[str, Any], set[str]]] = [
    ("elr", {"restarts": 1, "min_insync_replicas": 2}, {BEHIND, ASKED}),
    ("kip903", STRAYS, {ASKED, SENT}),
    ("elr", STRAYS, {BEHIND, ASKED, SENT}),
    ("elr", LATE, {BEHIND}),
    ("kip903", LATE, set()),
    ("kip320", LATE | {"restarts": 1}, set()),
]


def assert_bits_say_what_the_counters_say(
    version: str, options: dict[str, Any], seen: set[str]
) -> None:
    """At every reachable pair of state and counters within the bounds.

    Shown is that who knows the current partition, and whose registration has changed, is the same
    by the bits and by the counters, wherever a rule asks. Not shown is anything of the counters
    that AlterPartition carries of brokers which are in the ISR already: only that of the broker to
    be added is kept, the others being fenced, and so out of the ISR, before they register anew.
    """
    model = model_of(version, replicas=2, records=1, epochs=1, **options)
    found: Counter[str] = Counter()
    for s, counters in walk_beside(model, fresh_counters(model), counted):
        for r in range(s.replicas):
            if s.role[r] != LEADER:
                continue
            is_current = counters.partition[r] == 0
            assert knows_partition(s, r) == is_current
            assert (s.known_epoch[r] < s.epoch or s.outdated[r] == 1) == (not is_current)
            found[BEHIND] += s.known_epoch[r] == s.epoch and not is_current
            if added(s, r) != NO_REPLICA:
                assert (s.pending_stale[r] == 1) == (counters.asked[r] != 0)
                found[ASKED] += s.pending_stale[r]
        if s.stray_from != NO_REPLICA:
            assert s.stray_stale == (counters.stray != 0 and has(model.settings, KRAFT))
            found[SENT] += s.stray_stale

    assert {what for what, times in found.items() if times} == seen


def test_a_bit_says_what_comparing_the_counters_says() -> None:
    assert_bits_say_what_the_counters_say(*BITS[0])


# Epochs of records that are nowhere.


NORMAL: list[tuple[str, dict[str, Any]]] = [
    ("hw", {"records": 2, "restarts": 2}),
    ("kip320", {"records": 1, "restarts": 0, "moves": 1, "lost_disks": 1}),
    ("elr", {"records": 1, "restarts": 1, "moves": 1, "unclean_leader_election": True}),
    ("elr", {"records": 1, "lost_disks": 1, "late_replay": True, "caught_up_wait": True}),
]


def assert_normal_states_stay_normal(version: str, options: dict[str, Any], most: int) -> None:
    """In states from all over the space: to work one out takes longer than to find it."""
    model = model_of(version, replicas=2, epochs=2, **options)
    assert model.normalise is not None
    said, changed = set(), set()
    reached = reachable_states(Problem(model, (), ()))
    for s in random.Random(version).sample(reached, min(len(reached), most)):
        for action in model.enabled_actions:
            for arguments in model.bindings(action):
                if not model.is_enabled(s, action, arguments) or model.exceeded_limit(
                    s, action, arguments
                ):
                    continue
                plain = s.draft()
                action.effect(plain, model.settings, *arguments)
                normal = plain.freeze().draft()
                model.normalise(normal, model.settings)
                (said if action.stays_normal else set()).add(action.name)
                if plain.words != normal.words:
                    changed.add(action.name)

    assert said
    assert changed
    assert not said & changed


def test_what_is_said_to_leave_a_normal_state_normal_does() -> None:
    assert_normal_states_stay_normal(*NORMAL[1], most=300)


class Verdicts(NamedTuple):
    states: int
    broken: dict[str, int]
    reached: dict[str, int]


def verdicts(model: Model) -> Verdicts:
    """The least depth at which each claim breaks, and each thing happens; all states."""
    claims = (*invariants.ALL, *invariants.PROPERTIES)
    asked = frozenset(claim.name for claim in claims)
    problem = Problem(
        model, invariants.ALL, reachable.ALL, asked=asked, properties=invariants.PROPERTIES
    )
    with closing(MemoryEngine(problem, threads=1)) as engine:
        result = search(problem, engine)
    assert result.complete
    broken = {each.name: each.depth for each in result.invariants if each.depth is not None}
    reached = {each.name: each.depth for each in result.reachable if each.depth is not None}
    return Verdicts(result.distinct, broken, reached)


LOST: list[tuple[str, dict[str, Any], set[str]]] = [
    (
        "kip320",
        {"records": 1, "restarts": 0, "moves": 1, "lost_disks": 1},
        {"no_committed_loss", "remote_leo_honest"},
    ),
    (
        "kip279",
        {"records": 2, "restarts": 0, "moves": 2},
        {"candidates_complete", "remote_leo_honest"},
    ),
    (
        "truncate-on-fetch",
        {"records": 1, "restarts": 0, "moves": 2, "power_losses": 1},
        {"no_committed_loss", "acknowledged_durable"},
    ),
]


def assert_the_epoch_of_a_lost_record_changes_no_verdict(
    version: str, options: dict[str, Any], broken: set[str]
) -> None:
    model = model_of(version, replicas=2, epochs=2, **options)
    forgotten = verdicts(model)
    kept = verdicts(replace(model, normalise=None))

    assert (kept.broken, kept.reached) == (forgotten.broken, forgotten.reached)
    assert broken <= set(forgotten.broken)
    assert kept.states > forgotten.states


def test_what_the_epoch_of_a_lost_record_was_changes_no_verdict() -> None:
    assert_the_epoch_of_a_lost_record_changes_no_verdict(*LOST[0])


# An answer that logs part, kept as the offset at which its receiver will cut.

Answers = tuple[tuple[int, int] | None, ...]


def answered(model: Model, before: State, step: Step, answers: Answers) -> Answers:
    """What each follower has been told and has not received yet: an epoch and where it ends."""
    told = [
        answer if step.after.role[f] != LEADER and _is_told(step.after, f) else None
        for f, answer in enumerate(answers)
    ]
    if step.action.name == "LeaderFetch" and _is_told(step.after, step.arguments[0]):
        follower = step.arguments[0]
        leader = before.known_leader[follower]
        last = latest_epoch(before, model.settings, follower)
        told[follower] = end_offset_for(before, model.settings, leader, last)
    return tuple(told)


def _is_told(s: State, follower: int) -> bool:
    return roles.follows(s, follower) and s.fetch[follower] == DIVERGING


DIVERGES: list[tuple[str, dict[str, Any]]] = [
    ("elr-without-diverging-guard", {"records": 1, "restarts": 0, "session_expiries": 2}),
    ("truncate-on-fetch", {"records": 2, "restarts": 0, "moves": 2}),
    ("truncate-on-fetch", {"records": 2, "restarts": 1, "unclean_leader_election": True}),
]


def assert_followers_cut_where_they_were_told(version: str, options: dict[str, Any]) -> None:
    """Whatever the leader has done meanwhile: the answer itself is carried beside the state."""
    model = model_of(version, replicas=2, epochs=2, **options)
    seen: set[tuple[int, int]] = set()
    for s, answers in walk_beside(model, (None,) * 2, answered):
        for follower, answer in enumerate(answers):
            assert (answer is not None) == _is_told(s, follower)
            if answer is not None:
                cut, _ = truncation_point(s, model.settings, follower, *answer)
                assert s.answer_offset[follower] == cut
                seen.add(answer)

    assert len(seen) > 1


def test_the_offset_of_a_diverging_answer_is_where_the_follower_cuts_when_it_receives_it() -> None:
    assert_followers_cut_where_they_were_told(*DIVERGES[0])


# The epoch cache.

Cache = tuple[tuple[int, int], ...]


def assign(cache: Cache, epoch: int, start: int) -> Cache:
    """An entry is made unless the last one is of this epoch; those that contradict it go.

    (LeaderEpochFileCache.assign, isUpdateNeeded, maybeTruncateNonMonotonicEntries)
    """
    if cache and cache[-1][0] == epoch and start >= cache[-1][1]:
        return cache
    kept = cache
    while kept and (kept[-1][0] >= epoch or kept[-1][1] >= start):
        kept = kept[:-1]
    return (*kept, (epoch, start))


def truncate_from_end(cache: Cache, end: int) -> Cache:
    """Entries that start at the end or above it go (LeaderEpochFileCache.truncateFromEnd)."""
    while cache and cache[-1][1] >= end:
        cache = cache[:-1]
    return cache


def end_offset(cache: Cache, log_end: int, requested: int) -> tuple[int, int]:
    """LeaderEpochFileCache.endOffsetFor since 2.1."""
    if requested == NO_EPOCH:
        return NO_EPOCH, UNKNOWN_OFFSET
    if cache and cache[-1][0] == requested:
        return requested, log_end
    higher = [entry for entry in cache if entry[0] > requested]
    if not higher:
        return NO_EPOCH, UNKNOWN_OFFSET
    floor = [epoch for epoch, _ in cache if epoch <= requested]
    return (floor[-1] if floor else requested), higher[0][1]


TRUNCATES = {"OffsetForLeaderEpoch", "RecvDiverging", "RecvOutOfRange"}


def cached(model: Model, before: State, step: Step, caches: tuple[Cache, ...]) -> tuple[Cache, ...]:
    """The caches after a step. One on disk is cut at the log's end when the log is loaded."""
    after, name = step.after, step.action.name
    changed = list(caches)
    r = step.arguments[0] if step.arguments else 0
    if name in {"Learn", "LearnLate"} and after.role[r] == LEADER:
        changed[r] = assign(caches[r], after.known_epoch[r], before.leo[r])
    elif name in {"Produce", "RecvFetch"}:
        for offset in range(before.leo[r], after.leo[r]):
            epoch = after.record_epoch[after.log[r, offset] - 1]
            changed[r] = assign(changed[r], epoch, offset)
    elif name in TRUNCATES or name == "Restart":
        changed[r] = truncate_from_end(caches[r], after.leo[r])
    return tuple(changed)


CACHED: list[tuple[str, dict[str, Any]]] = [
    ("kip320", {"epochs": 3, "records": 1, "restarts": 0, "moves": 3}),
    ("kip320", {"epochs": 2, "records": 2, "restarts": 0, "moves": 2, "late_metadata": True}),
    ("kip320", {"epochs": 2, "records": 1, "restarts": 1, "moves": 2}),
    ("kip320", {"epochs": 2, "records": 1, "restarts": 0, "moves": 1, "power_losses": 1}),
    ("truncate-on-fetch", {"epochs": 3, "records": 1, "restarts": 0, "moves": 3}),
]


def assert_the_epoch_cache_follows(version: str, options: dict[str, Any]) -> None:
    """Along every path: of every broker that runs, for every epoch that can be asked for."""
    model = model_of(version, replicas=2, **options)
    settings = model.settings
    unwritten = 0
    for s, caches in walk_beside(model, (((0, 0),), ()), cached):
        for r in range(s.replicas):
            if s.up[r] == 0:
                continue
            latest = caches[r][-1][0] if caches[r] else NO_EPOCH
            assert latest_epoch(s, settings, r) == latest
            for epoch in range(NO_EPOCH, s.epochs + 1):
                expected = end_offset(caches[r], s.leo[r], epoch)
                assert end_offset_for(s, settings, r, epoch) == expected
            unwritten += roles.follows(s, r) and s.cached_epoch[r] != NO_EPOCH

    assert unwritten


def test_the_epoch_cache_follows_from_the_log_and_one_epoch_beside_it() -> None:
    assert_the_epoch_cache_follows(*CACHED[0])
