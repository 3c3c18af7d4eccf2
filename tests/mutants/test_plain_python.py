"""Each mutant of random small models is judged as a search in plain Python judges it.

A sample is tried here, more in tests/verify.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import waterline
from tests.support.own import own_problem
from tests.support.sampling import drawn
from waterline.checker.mutants.judging import Fate, explore_original, judge_all
from waterline.checker.mutants.mutants import mutants_of
from waterline.checker.user_models.family import built_of

TOP = 3
FIELDS = ("a", "b", "c")
STATES_MIN = 8


def model_of(seed: int) -> tuple[str, Plain]:
    """The first random model from a seed on that does something, and what it does."""
    texts = (random_model(f"{seed} {number}") for number in itertools.count())
    models = ((text, explored(text)) for text in texts)
    return next(found for found in models if len(found[1].states) >= STATES_MIN)


def random_model(seed: str) -> str:
    """A model of three small numbers, whose rules stay within their ranges or not."""
    dice = random.Random(seed)

    def number(names: list[str]) -> str:
        return dice.choice([*names, str(dice.randint(0, TOP))])

    def condition(names: list[str], depth: int = 1) -> str:
        if depth and dice.random() < 0.4:
            parts = [condition(names, depth - 1) for _ in range(2)]
            return f"({dice.choice([' and ', ' or ']).join(parts)})"
        if dice.random() < 0.2:
            return f"not {condition(names, 0)}"
        comparison = dice.choice(["<", "<=", ">", ">=", "==", "!=", "<"])
        return f"{dice.choice(names)} {comparison} {number(names)}"

    def value(names: list[str]) -> str:
        of = dice.choice(names)
        forms = [number(names), f"({of} + 1) % {TOP + 1}", f"min({of} + 1, {TOP})"]
        forms += [f"max({of} - 1, 0)", f"helped(s, {of})"]
        # This one leaves the range unless a guard forbids it.
        return dice.choice([*forms, f"{of} + 1"])

    own = [f"s.{name}" for name in FIELDS]
    lines = ["from waterline import Action, Number, Protocol, when", "", ""]
    takes = [dice.random() < 0.5 for _ in range(3)]
    actions = [f"Action(act{n}, n=range(2))" if each else f"act{n}" for n, each in enumerate(takes)]
    fields = ", ".join(f'Number("{name}", 0, {TOP})' for name in FIELDS)
    lines += [
        "def tiny() -> Protocol:",
        f"    return Protocol(fields=[{fields}], actions=[{', '.join(actions)}],",
        "        always=[fine], every_step=[goes_on], sometimes=[happens])",
        "",
        "",
    ]
    for n, each in enumerate(takes):
        names = [*own, *(["n"] if each else [])]
        lines += [f"def act{n}(s{', n' if each else ''}):"]
        lines += [f"    when({condition(names)})" for _ in range(dice.randint(1, 2))]
        for field in dice.sample(own, dice.randint(1, 2)):
            if dice.random() < 0.3:
                lines += [f"    if {condition(names)}:", f"        {field} = {value(names)}"]
            else:
                lines += [f"    {field} = {value(names)}"]
        lines += ["", ""]
    lines += ["def helped(s, n):", f"    if {condition(own)}:", "        return 0", "    return n"]
    lines += ["", "", "def fine(s):", f"    return {condition(own)} or s.a < {TOP}"]
    steps = [f"before.{name}" for name in FIELDS] + [f"after.{name}" for name in FIELDS]
    lines += ["", "", "def goes_on(before, after):", f"    return {condition(steps, 2)} or True"]
    if dice.random() < 0.6:
        lines[-1] = f"    return before.a != {dice.randint(0, TOP)} or after.b >= before.b"
    lines += ["", "", "def happens(s):", f"    return {condition(own)}", ""]
    return "\n".join(lines)


class OutOfRange(Exception):
    """A number left the range of its field."""


class Draft:
    """A state that a rule of the text may read and write, and no more."""

    def __init__(self, values: tuple[int, ...]) -> None:
        self.__dict__.update(zip(FIELDS, values, strict=True))

    def __setattr__(self, name: str, value: int) -> None:
        if not 0 <= value <= TOP:
            raise OutOfRange(name)
        self.__dict__[name] = value

    @property
    def values(self) -> tuple[int, ...]:
        return tuple(self.__dict__[name] for name in FIELDS)


@dataclass(frozen=True)
class Plain:
    """What a model does: its claims, and its steps by action and arguments."""

    is_error: bool
    broken: dict[str, int]
    happens: bool
    states: frozenset[tuple[int, ...]]
    steps: frozenset[tuple[Any, ...]]

    @property
    def moves(self) -> frozenset[tuple[Any, ...]]:
        return frozenset(step for step in self.steps if step[0] != step[-1])


def explored(text: str) -> Plain:
    """Everything that a text does, by its functions and sets of Python."""
    names: dict[str, Any] = {}
    exec(text, names)
    calls: list[tuple[Callable[..., None], tuple[int, ...]]] = []
    for action in names["tiny"]().actions:
        over = getattr(action, "over", {})
        calls += [
            (getattr(action, "function", action), given)
            for given in itertools.product(*map(tuple, over.values()))
        ]
    first = (0,) * len(FIELDS)
    seen, level, depth = {first}, [first], 0
    broken: dict[str, int] = {}
    steps: set[tuple[Any, ...]] = set()
    while level:
        arrived: dict[tuple[int, ...], None] = {}
        for state in level:
            if not names["fine"](Draft(state)):
                broken.setdefault("fine", depth)
            for function, given in calls:
                draft = Draft(state)
                try:
                    function(draft, *given)
                except waterline.NotEnabled:
                    continue
                except OutOfRange:
                    return Plain(True, broken, False, frozenset(), frozenset())
                steps.add((state, function.__name__, given, draft.values))
                if not names["goes_on"](Draft(state), draft):
                    broken.setdefault("goes_on", depth + 1)
                if draft.values not in seen:
                    arrived[draft.values] = None
        seen |= arrived.keys()
        level, depth = list(arrived), depth + 1
    happens = any(names["happens"](Draft(state)) for state in seen)
    return Plain(False, broken, happens, frozenset(seen), frozenset(steps))


def fate_of(mutant: Plain, model: Plain) -> Fate:
    """The fate that the definitions give to a mutant."""
    if mutant.is_error or mutant.broken != model.broken or (model.happens and not mutant.happens):
        return Fate.NOTICED
    if mutant.states != model.states:
        return Fate.SURVIVES
    if mutant.steps == model.steps:
        return Fate.EQUIVALENT
    return Fate.STUTTERS if mutant.moves == model.moves else Fate.OTHER_STEPS


def noticing(mutant: Plain, model: Plain) -> set[str]:
    """The first words of what may be said to notice a mutant."""
    differ = {
        name for name in ("fine", "goes_on") if mutant.broken.get(name) != model.broken.get(name)
    }
    return {*differ, *(["an"] if mutant.is_error else []), *([] if mutant.happens else ["never"])}


def compared(seed: int, folder: Path, count: int) -> list[Fate]:
    """The fates of so many mutants of a random model, each as plain Python has it."""
    text, model = model_of(seed)
    file = folder / f"tiny{seed}.py"
    file.write_text(text)
    problem = own_problem(file)
    original = explore_original(problem, str(file), {})
    mutants = drawn(mutants_of(built_of(problem)[0], "tiny", {}), count)
    judged = judge_all(mutants, original, processes=1)
    for mutant, found in zip(mutants, judged, strict=True):
        plain = explored(mutant.text)

        assert found.fate is fate_of(plain, model), (text, mutant.change)
        assert found.fate is Fate.NOTICED or found.states == len(plain.states)
        assert {name.partition(" ")[0] for name in found.by} <= noticing(plain, model)

    assert (original.states, original.transitions) == (len(model.states), len(model.steps))
    return [found.fate for found in judged]


def test_mutants_are_judged_as_plain_python_judges_them(tmp_path: Path) -> None:
    assert len(compared(3, tmp_path, 6)) == 6
