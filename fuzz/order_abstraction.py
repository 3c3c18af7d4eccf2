"""Attack on the order abstraction: normal forms by another hand, compared step by step.

    python -m fuzz.order_abstraction
    python -m fuzz.order_abstraction mutants

`normal_form` says in plain Python, over dictionaries and lists, what `check --unbounded` should
make of a state of a bounded model, whose epochs, records and counters are all there. `compare`
walks through a bounded model with room for everything. At each of its states the unbounded model
must allow the same steps, judge every claim as the bounded one does, and be led by each step to the
normal form of where the bounded one is led. Such a relation is a bisimulation, so that every
verdict about states and steps carries over. `mutants` breaks the product's normal form in one
place after the other, and says which of these defects the comparison sees.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import invariants
from fuzz.mutants import Mutant, mutants_of
from invariants.side_conditions import base_kept
from model.core.claim import Recoverable, predicates_of
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
        {"power_losses": 2},
        {"lost_disks": 1, "unclean_leader_election": True, "acks": "1"},
    )
)


# --- the normal form, said once more -------------------------------------------------------------


def normal_form(bounded: Plain, unbounded: Model, cut: int = 0) -> Plain:
    """What a state of a bounded model becomes, as fields of the unbounded one by name.

    `cut` records are known to be settled already.
    """
    cut = max(cut, settled(bounded, unbounded))
    bounded = _without_first(bounded, cut)
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


def settled(state: Plain, unbounded: Model) -> int:
    """How many records all have for good, less the last of them."""
    c = unbounded.settings
    if not c.settled:
        return 0
    logs = [[record for record in row if record] for row in state["log"]]
    leaders = [r for r, members in enumerate(state["unanswered"]) if members is not None]
    offsets = [state["exposed_end"], *state["checkpoint"]]
    offsets += [hw for hw, up in zip(state["hw"], state["up"], strict=True) if up]
    offsets += [leo for r in leaders for leo in state["remote_leo"][r] if leo >= 0]
    answers = zip(state["fetch"], state["answer_offset"], strict=True)
    offsets += [offset for fetch, offset in answers if fetch in {2, 3, 5}]
    offsets += state["durable"] if c.power_losses else []
    offsets += [state["consumed"]] if c.consumer else []
    epochs = [state["known_epoch"][r] for r in leaders]
    epochs += [epoch for epoch in state["cached_epoch"] if epoch is not None and epoch >= 0]
    if state["stray_from"] >= 0:
        offsets.append(state["stray_offset"])
        epochs += [epoch for epoch in [state["stray_last_epoch"]] if epoch >= 0]
    order = [record for record, _ in sorted(_records(state).items(), key=lambda pair: pair[1])]
    waiting = {record for r in leaders for record in _members(state["unanswered"][r])}
    most = 0
    for end in range(2, min(map(len, logs)) + 1):
        same = all(row[:end] == state["exposed"][:end] == order[:end] for row in logs)
        above = min(offsets) >= end and not waiting & set(order[:end])
        if not (
            same
            and above
            and min(epochs, default=ROOM["epochs"]) >= _epoch_of(state, order[end - 1])
        ):
            break
        most = end - 1
    # The last record of all is never cut off, so that a room of one has nothing to cut.
    return most if unbounded.layout.sizes["records"] > 1 else 0


def _epoch_of(state: Plain, record: int) -> int:
    return int(state["record_epoch"][record - 1])


def _without_first(bounded: Plain, cut: int) -> Plain:
    """The state with all offsets less by so many, and without the records below."""
    state = dict(bounded)
    state["base"] = int(cut > 0 or bounded.get("base", 0))
    gone = {row[offset] for row in state["log"] for offset in range(cut)}
    state["acked"] = sum(1 << r - 1 for r in _members(state["acked"]) if r not in gone)
    state["log"] = [row[cut:] + [0] * cut for row in state["log"]]
    state["exposed"] = state["exposed"][cut:] + [0] * cut
    for name in ("exposed_end", "consumed"):
        state[name] = max(0, state[name] - cut)
    if state["stray_from"] >= 0:
        state["stray_offset"] -= cut
    for name in ("leo", "checkpoint", "durable"):
        state[name] = [max(0, offset - cut) for offset in state[name]]
    state["hw"] = [hw - cut if up else hw for hw, up in zip(state["hw"], state["up"], strict=True)]
    state["remote_leo"] = [
        [leo if leo is None or leo < 0 else leo - cut for leo in row] for row in state["remote_leo"]
    ]
    state["answer_offset"] = [
        offset - cut if fetch in {2, 3, 5} else offset
        for fetch, offset in zip(state["fetch"], state["answer_offset"], strict=True)
    ]
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

    def disagreements(self, one: State, other: State, cut: int) -> Iterator[str]:
        """What a state of the bounded model and its normal form differ in, a line each.

        `cut` records have been cut off so far.
        """
        yield from self._claims(one, other)
        most = self.unbounded.layout.sizes["records"]
        for action in self.bounded.enabled_actions:
            for arguments in self.bounded.bindings(action):
                what, moved = f"{action.name}{arguments}", arguments
                if action.name == "PowerLoss":
                    moved = (arguments[0], arguments[1] - cut)
                if any(
                    not 0 <= a < self.unbounded.layout.sizes[p.over]
                    for a, p in zip(moved, action.parameters, strict=True)
                ):
                    continue
                here = self.bounded.is_enabled(one, action, arguments)
                twin = self.unbounded.action(action.name)
                if here != self.unbounded.is_enabled(other, twin, moved):
                    yield f"{what} is enabled in one of them"
                    continue
                if not here or self.bounded.exceeded(one, action, arguments):
                    continue
                step = self.bounded.take(one, action, arguments)
                if _longest(step.after) - cut > most:
                    continue
                if self.unbounded.exceeded(other, twin, moved):
                    yield f"{what} is cut"
                    continue
                led = self.unbounded.take(other, twin, moved)
                if self.plain(led.after) != (
                    wanted := normal_form(as_dict(step.after), self.unbounded, cut)
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
        for behaviour in invariants.BEHAVIOURS:
            if isinstance(behaviour, Recoverable) and behaviour.applies(self.bounded.settings):
                for predicate in predicates_of(behaviour):
                    if predicate(one, self.bounded.settings) != predicate(
                        other, self.unbounded.settings
                    ):
                        yield f"{behaviour.name}: {predicate.__name__}"


def compare(pair: Pair, states: int, seed: int, steps: int = 60) -> tuple[int, list[str]]:
    """Walk through `states` states of the bounded model: how many, and what differs first."""
    chance, looked_at, most = random.Random(seed), 0, pair.unbounded.layout.sizes["records"]
    while looked_at < states:
        state, cut = pair.bounded.initial[0], 0
        for _ in range(steps):
            plain = as_dict(state)
            cut = max(cut, settled(plain, pair.unbounded))
            other = state_of(pair.unbounded, normal_form(plain, pair.unbounded, cut))
            looked_at += 1
            if not base_kept.holds(other, pair.unbounded.settings):
                break  # the side condition is broken: the cut claims nothing beyond
            if found := list(pair.disagreements(state, other, cut)):
                return looked_at, found
            ways = [
                step
                for step in pair.bounded.successors(state)
                if _longest(step.after) - cut <= most
            ]
            if not ways or looked_at >= states:
                break
            # A kind of step first, so that rare kinds come as often as crashes of each broker.
            name = chance.choice(sorted({step.action.name for step in ways}))
            state = chance.choice([step for step in ways if step.action.name == name]).after
    return looked_at, []


def _longest(state: State) -> int:
    return max(state.leo[r] for r in range(state.replicas))


_OFFSETS = (
    "hw",
    "checkpoint",
    "durable",
    "answer_offset",
    "stray_offset",
    "exposed_end",
    "consumed",
)


def scrambled(model: Model, seed: int) -> State:
    """A state of a layout that no run need reach: logs, answers, epochs and sets at random."""
    chance = random.Random(seed)
    form = {
        declared.name: _filled(declared.shape, lambda d=declared: chance.randint(d.lo, d.hi))
        for declared in model.layout.fields
    }
    room = model.layout.sizes
    newest = form["epoch"]
    for name in ("known_epoch", "cached_epoch", "record_epoch"):
        form[name] = [min(epoch, newest) for epoch in form[name]]
    for name in ("stray_epoch", "stray_last_epoch"):
        form[name] = min(form[name], newest)
    form["produced"] = room["ids"]
    low = min(2, room["records"]) if chance.random() < 0.5 else 0
    if low:
        _settle(form, low, chance)
    form["leo"] = [max(low, end) for end in form["leo"]]
    for replica, end in enumerate(form["leo"]):
        row = [chance.randint(low + 1, room["ids"]) for _ in range(end)]
        row[:low] = range(1, low + 1)
        form["log"][replica] = row + [0] * (room["records"] - end)
        answered = chance.randint(0, room["records"] - end)
        row = [chance.randint(low + 1, room["ids"]) for _ in range(answered)]
        form["answer_log"][replica] = row + [0] * (room["records"] - answered)
    if low and chance.random() < 0.1:
        row, offset = chance.choice([form["exposed"], *form["log"]]), chance.randrange(low)
        row[offset] = chance.randint(0, room["ids"])
    for declared in model.layout.fields:
        if declared.alive is not None:
            alive = [role in declared.alive.values for role in form["role"]]
            rows = zip(form[declared.name], alive, strict=True)
            form[declared.name] = [row if lives else None for row, lives in rows]
    for name in ("log", "answer_log", "remote_leo"):
        form[name] = [[None] * room["records"] if row is None else row for row in form[name]]
    return state_of(model, form)


def _filled(shape: tuple[int, ...], value: Callable[[], int]) -> Any:
    """A number, a row or a table of numbers."""
    return [_filled(shape[1:], value) for _ in range(shape[0])] if shape else value()


def _settle(form: Plain, low: int, chance: random.Random) -> None:
    """Let all have the first records for good, but for one thing in twenty."""
    for name in _OFFSETS:
        if chance.random() < 0.95:
            found = form[name]
            raised = max(found, low) if isinstance(found, int) else [max(o, low) for o in found]
            form[name] = raised
    if chance.random() < 0.95:
        rows = form["remote_leo"]
        form["remote_leo"] = [[o if o < 0 else max(o, low) for o in row] for row in rows]
    if chance.random() < 0.95:
        form["exposed"][:low] = range(1, low + 1)
    if chance.random() < 0.95:
        form["record_epoch"] = sorted(form["record_epoch"])
    if chance.random() < 0.95:
        form["unanswered"] = [members & ~3 for members in form["unanswered"]]


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


def state_of(model: Model, form: Plain) -> State:
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
    parser.add_argument("what", nargs="?", choices=("compare", "mutants"), default="compare")
    parser.add_argument("--states", type=int, default=200, help="states for each case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--line", type=int, action="append", help="mutants of this line alone")
    given = parser.parse_args()
    if given.what == "mutants":
        alive = 0
        for number, (mutant, normalise) in enumerate(mutants(), start=1):
            if given.line and mutant.line not in given.line:
                continue
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
