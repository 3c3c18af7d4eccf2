"""Attack on the order abstraction: normal forms by another hand, compared step by step.

    python -m lab.fuzz.order_abstraction [--seed N] [--minutes M]

Each round takes the next of 120 cases. `compare` walks through a bounded model with room for
everything. At each of its states the unbounded model must allow the same steps, judge every claim
as the bounded one does, and be led by each step to the normal form (`lab.fuzz.second_normal_form`)
of where the bounded one is led. Such a relation is a bisimulation, so that every verdict about
states and steps carries over. Both normal forms are compared on scrambled states too, which no run
reaches.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lab.fuzz.rounds import Round, Wrong, attack
from lab.fuzz.second_normal_form import Plain, normal_form, settled
from waterline import invariants
from waterline.invariants.side_conditions import base_kept
from waterline.model.core.claim import Recoverable, predicates_of
from waterline.model.core.state import State, as_dict
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model

STATES = 150
"""Of a walk, and as many scrambled ones, a round."""
ROOM = {"records": 6, "epochs": 16, "restarts": 15, "moves": 15}
"""What a walk does not exhaust."""
CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    tuple(
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
            "hw-with-keeps-waiting-producers",
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
            {"directory_moves": 3, "requests_survive": True},
            {"directory_moves": 1, "power_losses": 1, "shutdowns": 1},
            {"power_losses": 2, "late_booking": "by-replica"},
            {"caught_up_wait": True, "session_expiries": 2, "shutdowns": 1},
            {"late_replay": True, "late_answers": True, "caught_up_wait": True},
            {"lost_disks": 1, "unclean_leader_election": True, "acks": "1"},
        )
        # Three replicas with this room and with producers that wait are too large to pack.
        if version != "hw-with-keeps-waiting-producers" or "replicas" not in circumstances
    )
    + tuple(
        (version, circumstances)
        for version in ("kraft", "kip903", "elr", "elr-with-last-known-leader")
        for circumstances in (
            {"reassignments": 3, "shutdowns": 1, "min_insync_replicas": 2},
            {"reassignments": 3, "first_partition_replicas": 2, "caught_up_wait": True},
            {"taken_directories": 1, "shutdowns": 2, "min_insync_replicas": 2},
            {"failed_directories": 3, "min_isr_writes": 3, "min_insync_replicas": 2},
        )
    )
    + tuple(
        (version, circumstances)
        for version in ("hw", "kip279-with-truncate-after-gap", "kip320-with-alter-partition")
        for circumstances in (
            {"reassignments": 3},
            {"reassignments": 3, "assigned": 1, "shutdowns": 1},
        )
    )
)


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
        for field in ("decided_leader", "decided_isr", "future_log"):
            del found[field]
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
                if not here or self.bounded.exceeded_limit(one, action, arguments):
                    continue
                step = self.bounded.take(one, action, arguments)
                if _longest(step.after) - cut > most:
                    continue
                if self.unbounded.exceeded_limit(other, twin, moved):
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


def make_round(seed: int, seen: Counter[str]) -> None:
    """Compare one case, the next after that of the seed before."""
    version, circumstances = CASES[seed % len(CASES)]
    pair = Pair.of(version, circumstances)
    looked_at, found = compare(pair, STATES, seed)
    seen["states of walks"] += looked_at
    seen["scrambled states"] += STATES
    if found := [*found, *compare_scrambled(pair, STATES, seed)]:
        raise Wrong(f"{version} {circumstances}: {'; '.join(found[:3])}")


@contextmanager
def rounds() -> Iterator[Round]:
    """A case a round."""
    yield make_round


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.order_abstraction", rounds))
