"""Bounded state spaces against unbounded ones, whole: image inside, and image reached.

    python -m lab.fuzz.whole_spaces [--seed N] [--minutes M]

Each round takes the next problem of two lists, which begin again after 44. Of those in `INSIDE` the
bounded space is explored with the compiled engine, and each of its states put into the normal form
of `lab.fuzz.second_normal_form`, which is not the product's: it must be among the states of the
unbounded problem, and no deeper there. No claim may hold without bounds and break within them, or
break there sooner. `ENDLESS` goes the other way: each unbounded state is the normal form of a
bounded one. The shortest way to it is taken in the bounded model as well, step by step, with the
same calls; where that has led, the normal form must be the state. It prints the bounds which that
took: within these the image is the whole.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from lab.fuzz.order_abstraction import Pair, state_of
from lab.fuzz.rounds import Round, Wrong, attack
from lab.fuzz.second_normal_form import normal_form, settled
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.packed_rows import Rows, StateWords, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Result
from waterline.checker.search.search import search
from waterline.model.core.state import State, as_dict
from waterline.model.message.environment import EPOCHS_MAX, FAULTS, Environment
from waterline.model.message.model import message_model
from waterline.model.message.versions import VERSIONS

Bounds = dict[str, Any]
MOVES: Bounds = {"records": 1, "epochs": 3, "restarts": 1, "moves": 2}
INSIDE: tuple[tuple[str, Bounds], ...] = (
    *((version, {"records": 1, "epochs": 3, "restarts": 3}) for version in VERSIONS),
    *((version, MOVES) for version in VERSIONS),
    *((f"kip320-without-{rule}", MOVES) for rule in ("fencing", "isr-from-epoch-start")),
    *((f"kip320-with-{rule}", MOVES) for rule in ("fresh-remote-leo-after-gap",)),
    ("kip279-with-truncate-after-gap", MOVES),
    ("epoch", {"records": 2, "epochs": 2, "restarts": 2}),
    ("elr", {"records": 2, "epochs": 2, "restarts": 2}),
    ("kip320", {"records": 2, "epochs": 3, "restarts": 1, "power_losses": 1}),
    ("kip320", {"records": 1, "epochs": 3, "restarts": 1, "shutdowns": 2, "moves": 1}),
    ("kip320", {"records": 1, "epochs": 3, "session_expiries": 2, "requests_survive": True}),
    ("kip320", {"replicas": 3, "records": 1, "epochs": 2, "restarts": 1}),
)
"""A version and bounds; those that `bounds` do not name are as documented."""
ENDLESS: tuple[tuple[str, Bounds], ...] = (
    *((version, {"records": 1}) for version in VERSIONS),
    *((version, {"records": 1, "moves": 1}) for version in ("epoch", "kip320", "kraft")),
    ("kip320", {"records": 2}),
)


@dataclass(frozen=True, slots=True)
class Space:
    """A problem explored: its states with their depths, and the result."""

    problem: Problem
    depths: dict[StateWords, int]
    result: Result


def explored(version: str, bounds: Bounds) -> Space:
    """All states, by the compiled engine."""
    environment = Environment(**bounds)
    problem = MESSAGE.problem(version, environment)
    with closing(MemoryEngine(problem, threads=2)) as engine:
        result = search(problem, engine)
        depths = {
            words: depth
            for depth in range(result.depth + 1)
            for part in engine.over_level(depth, rows_of)
            for words in part
        }
    return Space(problem, depths, result)


def rows_of(block: Rows) -> list[StateWords]:
    """The states of a block."""
    return [state_words(row) for row in block]


def endless(bounds: Bounds) -> Bounds:
    """The same circumstances without bounds."""
    return {
        **{name: value for name, value in bounds.items() if name != "epochs"},
        "unbounded": True,
    }


def outside(version: str, bounds: Bounds) -> tuple[int, int, Iterator[str]]:
    """States within and without bounds, and what of the former is not inside the latter."""
    within, without = explored(version, bounds), explored(version, endless(bounds))
    return len(within.depths), len(without.depths), _differences(within, without)


def _differences(within: Space, without: Space) -> Iterator[str]:
    bounded, unbounded = within.problem.model, without.problem.model
    for words, depth in within.depths.items():
        state = State(bounded.layout, words)
        image = state_of(unbounded, normal_form(as_dict(state), unbounded))
        least = without.depths.get(image.words)
        if least is None:
            yield f"not inside: {state}"
        elif least > depth:
            yield f"deeper without bounds: {state}"
    breaks = {found.name: found.depth for found in without.result.violated}
    for found in within.result.violated:
        depth_without = breaks.get(found.name)
        if depth_without is None or found.depth is None or depth_without > found.depth:
            yield f"{found.name} breaks after {found.depth}, without bounds {depth_without}"


def reached(version: str, bounds: Bounds) -> tuple[int, Bounds, list[str]]:
    """How many unbounded states are images, the bounds which that took, and what is none."""
    environment = Environment(**endless(bounds))
    unbounded = message_model(version, environment)
    records = {"records": 8 if environment.replicas < 3 else 6}
    roomy = {name: 15 for name in ("restarts", "moves") if getattr(environment, name)}
    room = replace(environment, unbounded=False, epochs=EPOCHS_MAX, **records, **roomy)
    bounded = message_model(version, room)
    pair = Pair(bounded, unbounded)
    level: dict[State, tuple[State, int]] = {unbounded.initial[0]: (bounded.initial[0], 0)}
    known, wrong = set(level), list[str]()
    most = dict.fromkeys(("records", "epochs", *FAULTS), 0)
    while level:
        following: dict[State, tuple[State, int]] = {}
        for state, (concrete, cut) in level.items():
            _raise(most, concrete)
            for step in unbounded.successors(state):
                if step.after in known or step.after in following:
                    continue
                action = bounded.action(step.action.name)
                if not bounded.is_enabled(
                    concrete, action, step.arguments
                ) or bounded.exceeded_limit(concrete, action, step.arguments):
                    wrong.append(f"{step} is not possible within bounds from {concrete}")
                    continue
                after = bounded.apply(concrete, action, step.arguments)
                below = max(cut, settled(as_dict(after), unbounded))
                if normal_form(as_dict(after), unbounded, below) != pair.plain(step.after):
                    wrong.append(f"{step} leads elsewhere from {concrete}")
                following[step.after] = after, below
        known |= following.keys()
        level = following
    return len(known), {name: value for name, value in most.items() if value}, wrong


def _raise(most: Bounds, state: State) -> None:
    """Note what this state takes."""
    taken = {"records": int(state.produced), "epochs": int(state.epoch)}
    taken |= {name: int(getattr(state, f"{name}_used")) for name in FAULTS}
    for name, value in taken.items():
        most[name] = max(most[name], value)


def make_round(seed: int, seen: Counter[str]) -> None:
    """One problem, the next after that of the seed before."""
    number = seed % (len(INSIDE) + len(ENDLESS))
    if number < len(INSIDE):
        version, bounds = INSIDE[number]
        states, _, differences = outside(version, bounds)
        wrong = list(differences)
        seen["bounded states inside"] += states
    else:
        version, bounds = ENDLESS[number - len(INSIDE)]
        states, took, wrong = reached(version, bounds)
        seen[f"unbounded states of {version} {bounds} reached within {took}"] += states
    if wrong:
        raise Wrong(f"{version} {bounds}: {len(wrong)} differ: {'; '.join(wrong[:3])}")


@contextmanager
def rounds() -> Iterator[Round]:
    """A problem a round."""
    yield make_round


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.whole_spaces", rounds))
