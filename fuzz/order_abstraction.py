"""Attack on the order abstraction: normal forms by another hand, compared step by step.

    python -m fuzz.order_abstraction --states 2000
    python -m fuzz.order_abstraction --mutants

`normal_form` says in plain Python, over dictionaries and lists, what `check --unbounded` should
make of a state of a bounded model, whose epochs, records and counters are all there. `compare`
walks through a bounded model with room for everything. At each of its states the unbounded model
must allow the same steps, judge every claim as the bounded one does, and be led by each step to the
normal form of where the bounded one is led. Such a relation is a bisimulation, so that every
verdict about states and steps carries over. `--mutants` breaks the product's normal form in one
place after the other, and says which of these defects the comparison sees.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import invariants
from fuzz.mutants import Mutant, mutants_of
from model.core.state import State, as_dict
from model.core.transition_system import Model
from model.message.environment import COUNTED, FAULTS, Environment
from model.message.features import FRESH_REMOTE_LEO_AFTER_GAP, TRUNCATE_AFTER_GAP, has
from model.message.model import message_model

NOWHERE = 0
NO_EPOCH = -1
Plain = dict[str, Any]
ROOM = {"records": 6, "epochs": 16, "restarts": 15, "moves": 15}
"""What a walk does not exhaust."""
CASES: tuple[tuple[str, dict[str, Any]], ...] = tuple(
    (version, circumstances)
    for version in (
        "hw",
        "epoch",
        "kip279",
        "kip320",
        "truncate-on-fetch",
        "kraft",
        "kip903",
        "elr",
        "kip279-with-truncate-after-gap",
        "kip320-with-fresh-remote-leo-after-gap",
    )
    for circumstances in (
        {},
        {"replicas": 3},
        {
            "session_expiries": 3,
            "shutdowns": 3,
            "requests_survive": True,
            "parked_fetches": True,
            "late_reads": True,
            "consumer": True,
        },
        {"power_losses": 1, "lost_checkpoints": 1, "min_insync_replicas": 2, "shutdowns": 1},
        {"lost_disks": 1, "unclean_leader_election": True, "acks": "1"},
    )
)


# --- the normal form, said once more -------------------------------------------------------------


def normal_form(bounded: Plain, unbounded: Model) -> Plain:
    """What a state of a bounded model becomes, as fields of the unbounded one by name."""
    state, room = dict(bounded), unbounded.layout.sizes
    names = _records(state)
    ranks = _epochs(state, names, _sees_gaps(unbounded))
    state["acked"] = _acked(state["acked"], names, room["ids"])
    state["unanswered"] = [
        members if members is None else _set(members, names) for members in state["unanswered"]
    ]
    state["last_consumed"] = names.get(state["last_consumed"], NOWHERE)
    state["exposed"] = [names.get(r, NOWHERE) for r in state["exposed"]][: room["records"]]
    for field in ("log", "answer_log"):
        state[field] = [
            [r if r is None else names.get(r, NOWHERE) for r in row][: room["records"]]
            for row in state[field]
        ]
    epoch_of = {names[r]: ranks[bounded["record_epoch"][r - 1]] for r in names}
    state["record_epoch"] = [epoch_of.get(name, 0) for name in range(1, room["ids"] + 1)]
    state["produced"] = len(names)
    for field in ("epoch", "stray_epoch", "stray_last_epoch"):
        if field == "epoch" or state["stray_from"] >= 0:
            state[field] = ranks[state[field]]
    for field in ("known_epoch", "cached_epoch"):
        state[field] = [e if e is None else ranks[e] for e in state[field]]
    for name in FAULTS:
        if name not in COUNTED:
            state[f"{name}_used"] = 0
    if unbounded.settings.power_losses == 0:
        state["durable"] = [0] * room["replicas"]
    del state["decided_leader"], state["decided_isr"]
    return state


def _records(state: Plain) -> dict[int, int]:
    """New names by old ones: those in some log or answer, by epoch, offset, where first seen."""
    seen: dict[int, tuple[int, ...]] = {}
    for kind, rows in enumerate((state["log"], state["answer_log"])):
        for replica, row in enumerate(rows):
            for i, record in enumerate(row):
                if record:
                    offset = i if kind == 0 else state["leo"][replica] + i
                    key = (state["record_epoch"][record - 1], offset, kind, i, replica)
                    seen[record] = min(key, seen.get(record, key), key=lambda k: k[2:])
    order = sorted(seen, key=lambda record: seen[record])
    return {record: name for name, record in enumerate(order, start=1)}


def _epochs(state: Plain, names: dict[int, int], sees_gaps: bool) -> dict[int, int]:
    """New epochs by old ones, in order."""
    found = {state["epoch"], *state["known_epoch"]}
    found |= {epoch for epoch in state["cached_epoch"] if epoch is not None}
    found |= {state["record_epoch"][record - 1] for record in names}
    if state["stray_from"] >= 0:
        found |= {state["stray_epoch"], state["stray_last_epoch"]}
    found.discard(NO_EPOCH)
    ranks = {epoch: rank for rank, epoch in enumerate(sorted(found))}
    if sees_gaps and len(found) > 1 and state["epoch"] - 1 not in found:
        ranks[state["epoch"]] += 1
    return ranks | {NO_EPOCH: NO_EPOCH}


def _sees_gaps(model: Model) -> bool:
    return has(model.settings, TRUNCATE_AFTER_GAP) or has(
        model.settings, FRESH_REMOTE_LEO_AFTER_GAP
    )


def _members(members: int) -> Iterator[int]:
    return (bit + 1 for bit in range(members.bit_length()) if members >> bit & 1)


def _set(members: int, names: dict[int, int]) -> int:
    return sum(1 << names[record] - 1 for record in _members(members) if record in names)


def _acked(members: int, names: dict[int, int], ids: int) -> int:
    lost = any(record not in names for record in _members(members))
    return _set(members, names) | lost << ids


# --- comparison ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pair:
    """A bounded model with room for a walk, and the unbounded one."""

    bounded: Model
    unbounded: Model

    @classmethod
    def of(cls, version: str, circumstances: dict[str, Any], records: int = 2) -> Pair:
        """The two of a version in circumstances, logs of at most `records`."""
        roomy = Environment(**{**ROOM, **circumstances})
        endless = Environment(**{"moves": 1, **circumstances}, records=records, unbounded=True)
        return cls(message_model(version, roomy), message_model(version, endless))

    def plain(self, state: State) -> Plain:
        """A state of the unbounded model, as `normal_form` gives it."""
        found = dict(as_dict(state))
        del found["decided_leader"], found["decided_isr"]
        return found

    def disagreements(self, one: State, other: State) -> Iterator[str]:
        """What a state of the bounded model and its normal form differ in, a line each."""
        yield from self._claims(one, other)
        most = self.unbounded.layout.sizes["records"]
        for action in self.bounded.enabled_actions:
            for arguments in self.bounded.bindings(action):
                what = f"{action.name}{arguments}"
                if any(
                    a >= self.unbounded.layout.sizes[p.over]
                    for a, p in zip(arguments, action.parameters, strict=True)
                ):
                    continue
                here = self.bounded.is_enabled(one, action, arguments)
                twin = self.unbounded.action(action.name)
                if here != self.unbounded.is_enabled(other, twin, arguments):
                    yield f"{what} is enabled in one of them"
                    continue
                if not here or self.bounded.exceeded(one, action, arguments):
                    continue
                step = self.bounded.take(one, action, arguments)
                if max(step.after.leo[r] for r in range(step.after.replicas)) > most:
                    continue
                if self.unbounded.exceeded(other, twin, arguments):
                    yield f"{what} is cut"
                    continue
                led = self.unbounded.take(other, twin, arguments)
                if self.plain(led.after) != (
                    wanted := normal_form(as_dict(step.after), self.unbounded)
                ):
                    differ = [n for n, v in wanted.items() if self.plain(led.after)[n] != v]
                    yield f"{what} leads elsewhere: {', '.join(differ)}"
                for claim in invariants.PROPERTIES:
                    if claim.applies(self.bounded.settings) and claim.keeps(
                        one, step.outcome, self.bounded.settings
                    ) != claim.keeps(other, led.outcome, self.unbounded.settings):
                        yield f"{what}: {claim.name}"

    def _claims(self, one: State, other: State) -> Iterator[str]:
        for claim in invariants.ALL:
            if claim.applies(self.bounded.settings) and claim.holds(
                one, self.bounded.settings
            ) != claim.holds(other, self.unbounded.settings):
                yield claim.name


def compare(pair: Pair, states: int, seed: int, steps: int = 60) -> tuple[int, list[str]]:
    """Walk through `states` states of the bounded model: how many, and what differs first."""
    chance, looked_at, most = random.Random(seed), 0, pair.unbounded.layout.sizes["records"]
    while looked_at < states:
        state = pair.bounded.initial[0]
        for _ in range(steps):
            form = normal_form(as_dict(state), pair.unbounded)
            other = _state_of(pair.unbounded, form)
            looked_at += 1
            if found := list(pair.disagreements(state, other)):
                return looked_at, found
            ways = [
                step
                for step in pair.bounded.successors(state)
                if max(step.after.leo[r] for r in range(step.after.replicas)) <= most
            ]
            if not ways or looked_at >= states:
                break
            # A kind of step first, so that rare kinds come as often as crashes of each broker.
            name = chance.choice(sorted({step.action.name for step in ways}))
            state = chance.choice([step for step in ways if step.action.name == name]).after
    return looked_at, []


def scrambled(model: Model, seed: int) -> State:
    """A state of a layout that no run need reach: logs, answers, epochs and sets at random."""
    chance = random.Random(seed)
    draft, room = State(model.layout).draft(), model.layout.sizes
    roles = [chance.randint(0, 3) for _ in range(room["replicas"])]
    newest = chance.randint(0, room["epochs"])
    ends = [chance.randint(0, room["records"]) for _ in roles]
    answered = [chance.randint(0, room["records"] - end) for end in ends]
    for declared in sorted(model.layout.fields, key=lambda f: f.alive is not None):
        for place in itertools.product(*map(range, declared.shape)):
            value = chance.randint(declared.lo, declared.hi)
            if declared.alive is not None and roles[place[0]] not in declared.alive.values:
                continue
            if declared.name.endswith("epoch"):
                value = newest if declared.name == "epoch" else min(value, newest)
            if declared.name == "role":
                value = roles[place[0]]
            elif declared.name == "leo":
                value = ends[place[0]]
            elif declared.name in {"log", "answer_log"}:
                lengths = ends if declared.name == "log" else answered
                value = chance.randint(1, room["ids"]) if place[1] < lengths[place[0]] else 0
            elif declared.name == "produced":
                value = declared.hi
            if place:
                getattr(draft, declared.name)[place if len(place) > 1 else place[0]] = value
            else:
                setattr(draft, declared.name, value)
    return draft.freeze()


def compare_scrambled(pair: Pair, states: int, seed: int) -> list[str]:
    """The fields in which the product's normal form of such states is another, if any."""
    model = pair.unbounded
    for number in range(states):
        state = scrambled(model, seed * states + number)
        draft = state.draft()
        assert model.normalise is not None
        model.normalise(draft, model.settings)
        wanted, found = normal_form(as_dict(state), model), pair.plain(draft.freeze())
        if found != wanted:
            return [f"scrambled state {number}: {[n for n, v in wanted.items() if found[n] != v]}"]
    return []


def _state_of(model: Model, form: Plain) -> State:
    """The state of the unbounded model with these fields."""
    draft = State(model.layout).draft()
    for declared in sorted(model.layout.fields, key=lambda f: f.alive is not None):
        value = form.get(declared.name)
        if value is None:
            continue
        if not declared.shape:
            setattr(draft, declared.name, value)
        elif len(declared.shape) == 1:
            for i, each in enumerate(value):
                if each is not None:
                    getattr(draft, declared.name)[i] = each
        else:
            for i, row in enumerate(value):
                for j, each in enumerate(row):
                    if each is not None:
                        getattr(draft, declared.name)[i, j] = each
    return draft.freeze()


# --- mutants -------------------------------------------------------------------------------------


def mutants() -> Iterator[tuple[Mutant, Any]]:
    """Each defect, and the normal form that has it."""
    for mutant in mutants_of("order_abstraction"):
        names: dict[str, Any] = {"__name__": "mutant"}
        exec(compile(mutant.text, "mutant", "exec"), names)
        yield mutant, names["abstract"]


def killed_by(normalise: Any, states: int, seed: int) -> str:
    """The first case in which a normal form with a defect is seen, and how; "" where in none."""
    for version, circumstances in CASES:
        pair = Pair.of(version, circumstances)
        broken = replace(pair, unbounded=replace(pair.unbounded, normalise=normalise))
        try:
            found = compare_scrambled(broken, 4 * states, seed) or compare(broken, states, seed)[1]
        except Exception as error:
            found = [f"raises {type(error).__name__}: {error}"]
        if found:
            return f"{version} {circumstances}: {found[0]}"
    return ""


def main() -> None:
    """Compare, or count the mutants that the comparison kills."""
    parser = argparse.ArgumentParser(description="attack the order abstraction")
    parser.add_argument("--states", type=int, default=400, help="states for each case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", action="store_true")
    given = parser.parse_args()
    if given.mutants:
        alive = 0
        for number, (mutant, normalise) in enumerate(mutants(), start=1):
            how = killed_by(normalise, given.states, given.seed)
            alive += not how
            where = f"{mutant.line} {mutant.rule}: {mutant.change}"
            print(f"{number:3} {'killed' if how else 'ALIVE '} {where}  {how}", flush=True)
        print(f"{number} mutants, {alive} alive")
        return
    total = wrong = 0
    for version, circumstances in CASES:
        pair = Pair.of(version, circumstances)
        looked_at, found = compare(pair, given.states, given.seed)
        found += compare_scrambled(pair, given.states, given.seed)
        total, wrong = total + looked_at, wrong + bool(found)
        print(f"{version} {circumstances}: {looked_at} states {found[:3]}", flush=True)
    print(f"{len(CASES)} cases, {total:,} states, {wrong} cases differ")


if __name__ == "__main__":
    main()
