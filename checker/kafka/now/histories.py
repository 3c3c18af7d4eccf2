"""States of the model that look like a partition, after the fewest faults that explain it.

The model of the cluster's release begins with everything in sync. Every state that it reaches with
the least number of faults before, and that looks like the partition, is kept: leader, ISR, ELR and
the brokers that are down are as observed. All else is as any such history left it: logs, high
watermarks, checkpoints, what is on disk, what each broker knows, requests under way. The faults of
the history are then forgotten, so that only further ones count.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from waterline.checker.compiler.origins import call_of
from waterline.checker.graph.edges import steps_out_of
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.now.situation import Situation
from waterline.checker.problem.packed_rows import Rows, state_words
from waterline.checker.problem.problem import Problem, Shared, sharing
from waterline.checker.search.engines.expander import Expander
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.fault_count import counters, used_in_rows
from waterline.checker.search.result import Budgets
from waterline.checker.search.search import search
from waterline.checker.traces.violating_states import breaking_rows
from waterline.model.core.layout import WORD_BITS
from waterline.model.core.state import Draft, State
from waterline.model.message import limits
from waterline.model.message.controller import fence
from waterline.model.message.features import HW_NEEDS_MIN_ISR, has
from waterline.model.message.reassignment import alter_target, can_reassign, change, reassign
from waterline.model.message.settings import Settings
from waterline.model.message.terms import NO_REPLICA

BEFORE = ("restarts", "shutdowns", "power_losses", "moves")
"""Faults that a history may have: crashes, shutdowns, power losses, moves of leadership."""
FURTHER = ("restarts", "power_losses", "lost_disks", "session_expiries", "shutdowns", "moves")
"""Faults that may come."""
POWER = "PowerLoss"
MOVE = "reassignments"
FAULT_OF = {
    name: budget.setting
    for name, budget in limits.BUDGETS.items()
    if budget.setting in (*FURTHER, MOVE)
}
"""The budgets of the steps that are faults, and of reassignments."""
BEFORE_MAX = 2
MOVED_MAX = 5
"""Most brokers of a reassignment that a state has room for."""
CLAIMS = ("acknowledged_durable", "acknowledged_on_disk")
STATES_MAX = 8_000_000
"""Most states of one search."""
EPOCHS = 7
"""Highest leader epoch: no history with two faults, and two more, gets there."""


class NotExplained(Exception):
    """No history within the bounds leads to a situation, or too many states do."""


def records_for(replicas: int) -> int:
    """Return how many records are produced."""
    return 1 if replicas > 2 else 2


def problem_of(situation: Situation, faults: Iterable[str]) -> Problem:
    """Return the problem of a fresh partition with these settings and faults."""
    problem = _problem(situation, faults)
    usual = replace(situation.at_start, min_insync=1, acks="all", unclean=False)
    return replace(problem, shared=_shared_by_all(usual))


def _problem(situation: Situation, faults: Iterable[str], epochs: int = EPOCHS) -> Problem:
    environment = situation.environment(records_for(situation.brokers), epochs, faults)
    problem = MESSAGE.problem(situation.version, environment, CLAIMS)
    if situation.joining < 0:
        return problem
    # The first reassignment of the budget is used up, so that none begins unasked.
    first = problem.model.initial[0].draft()
    first.reassignments_used = 1
    return replace(problem, model=replace(problem.model, initial=(first.freeze(),)))


@functools.cache
def _shared_by_all(situation: Situation) -> Shared:
    """Return what one kernel needs for all faults, and all settings of this version and size."""
    others = [
        replace(situation, min_insync=number, acks=acks, unclean=unclean)
        for number in range(1, situation.replicas + 1)
        for acks in ("1", "all")
        for unclean in (False, True)
    ]
    faults = [(), (MOVE,) * (situation.joining >= 0), *((each, each) for each in FURTHER)]
    return sharing(
        [_problem(situation, each) for each in faults] + [_problem(each, ()) for each in others]
    )


@functools.cache
def taken_out(situation: Situation, places: tuple[int, ...]) -> Situation:
    """Return the situation once the controller sees these brokers gone, one after the other."""
    model = _problem(situation, ()).model
    s = model.initial[0].draft()
    s.leader, s.isr, s.elr, s.fenced = situation.seen
    for place in places:
        fence(s, model.settings, place)
    return replace(situation, leader=s.leader, isr=s.isr, elr=s.elr, down=s.fenced)


@functools.cache
def states_of_move(situation: Situation, targets: int) -> tuple[tuple[Situation, int], ...]:
    """Return the situation once it is being reassigned to these places, and once it is complete.

    The replicas that are added, and are up, are in sync then. Each comes with the members of its
    ELR that are not replicas. None if Kafka refuses the request, or a state has no room for all.
    """
    if situation.brokers > MOVED_MAX:
        return ()
    # A move of three replicas to three others has more brokers than a history has room for.
    model = _problem(situation, (MOVE,), epochs=3).model
    s, c = model.initial[0].draft(), model.settings
    s.leader, s.isr, s.elr, s.fenced = situation.seen
    found = []
    if can_reassign(s, c, targets):
        reassign(s, c, targets)
        found.append(_after_move(situation, s, c))
    if s.leader != NO_REPLICA and s.adding | s.removing:
        change(s, c, *alter_target(s, c, s.isr | s.adding & ~situation.down))
        found.append(_after_move(situation, s, c))
    return tuple(found)


def _after_move(situation: Situation, s: Draft, c: Settings) -> tuple[Situation, int]:
    needed = situation.min_insync
    if has(c, HW_NEEDS_MIN_ISR):
        needed = min(needed, s.assigned.bit_count())
    then = replace(situation, leader=s.leader, isr=s.isr, elr=s.elr, min_insync=needed)
    return then, s.elr & ~s.assigned


@functools.lru_cache(maxsize=64)
def states_like(situation: Situation, before: tuple[str, ...] = BEFORE) -> States:
    """Return the states that look like a situation, after `before`. Raises `NotExplained`."""
    problem = problem_of(situation, ())
    for count in range(BEFORE_MAX + 1):
        found = [
            _alike(problem, _reachable(situation.at_start, faults), situation)
            for faults in itertools.combinations_with_replacement(before, count)
        ]
        rows = _forget_faults(problem, np.concatenate(found))
        if len(rows):
            return States(situation, _without_losses(problem, rows), count)
    raise NotExplained(f"no history with at most {BEFORE_MAX} faults leads there")


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """States that look like a situation, with how many faults the histories to them had."""

    situation: Situation
    rows: Rows
    faults_before: int

    def after(self, actions: Sequence[str], place: int) -> States:
        """Return the states after one of these steps of the broker at this place."""
        faults = [FAULT_OF[action] for action in actions if action in FAULT_OF]
        problem = problem_of(self.situation, faults)
        found = [np.empty((0, self.rows.shape[1]), np.uint64)]
        for steps in steps_out_of(Expander(problem), self.rows):
            calls = {n: call_of(problem.model, n) for n in np.unique(steps.step).tolist()}
            wanted = [n for n, (name, a) in calls.items() if name in actions and a[0] == place]
            found.append(steps.successors[np.isin(steps.step, wanted)].copy())
        rows = _forget_faults(problem, np.concatenate(found))
        if not len(rows):
            raise NotExplained("in no such state it can happen")
        return replace(self, rows=rows)

    def problem(self, faults: Iterable[str]) -> Problem:
        """Return the problem that begins with these states, where these faults may come."""
        problem = problem_of(self.situation, faults)
        states = [State(problem.model.layout, state_words(row)) for row in self.rows]
        return replace(problem, model=replace(problem.model, initial=tuple(states)))


@functools.lru_cache(maxsize=5)
def _reachable(start: Situation, faults: tuple[str, ...]) -> Rows:
    """Return all states that a fresh partition reaches: situations of one cluster share them."""
    problem = problem_of(start, faults)
    prepare(problem)
    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine, budgets=Budgets(max_states=STATES_MAX))
        if result.interrupted:
            raise KeyboardInterrupt
        if not result.complete or result.cut["epochs"]:
            raise NotExplained(f"its pasts have more than {STATES_MAX:,} states or {EPOCHS} epochs")
        levels = range(len(result.levels))
        return np.concatenate([rows for at in levels for rows in engine.level(at)])


def _alike(problem: Problem, rows: Rows, situation: Situation) -> Rows:
    wanted = {
        "leader": situation.leader,
        "isr": situation.isr,
        "elr": situation.elr,
        "fenced": situation.down,
        "stopping": 0,
    }
    alike = np.ones(len(rows), np.bool_)
    for name, value in wanted.items():
        alike &= used_in_rows(problem.model, name, rows) == value
    place = problem.model.layout.places["up"]
    for replica in range(situation.brokers):
        word, shift = divmod(place.bit + replica * place.row, WORD_BITS)
        up = (rows[:, word] >> np.uint64(shift)) & np.uint64(1)
        alike &= up != (situation.down >> replica & 1)
    return rows[alike]


def _forget_faults(problem: Problem, rows: Rows) -> Rows:
    """Return these states as if no fault had happened, each once."""
    kept = rows.copy()
    for name in counters(problem.model):
        element = problem.model.layout.elements[name][()]
        kept[:, element.word] &= np.uint64(~(element.mask << element.shift) & (1 << WORD_BITS) - 1)
        if name == f"{MOVE}_used":
            kept[:, element.word] |= np.uint64(1 << element.shift)
    return np.unique(kept, axis=0)


def _without_losses(problem: Problem, rows: Rows) -> Rows:
    """Leave out states that have lost a record already: no further fault loses it."""
    expander = Expander(problem)
    lost = {
        row.tobytes()
        for number, claim in enumerate(problem.invariants)
        if claim.name in CLAIMS
        for row in breaking_rows(rows, expander, number)
    }
    return rows[np.array([row.tobytes() not in lost for row in rows], np.bool_)]
