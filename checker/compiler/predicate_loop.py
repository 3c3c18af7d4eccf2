"""Generated loop that evaluates predicates on states, and steps cut by a bound.

A search notes of a predicate the least state that breaks it, and of cut steps how many there are.
Claims about behaviours need both of every state. The loop is written and compiled like those of a
kernel (`checker.compiler.loops`), of the same functions.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from waterline.checker.compiler import states
from waterline.checker.compiler.kernel import constants_of_settings, given_settings, recipes_of
from waterline.checker.compiler.loops import Pure
from waterline.checker.compiler.module import Unit
from waterline.checker.compiler.origins import ACTION_SHIFT
from waterline.checker.compiler.program import Program, Recipe, program
from waterline.checker.compiler.source import sources_of
from waterline.checker.compiler.values import ArrayValue, Number, SettingsValue
from waterline.checker.problem.problem import Problem
from waterline.model.core.claim import Recoverable, fair_actions, predicates_of, ways_back
from waterline.model.core.layout import Layout
from waterline.model.core.transition_system import Action


@dataclass(frozen=True, slots=True)
class Questions:
    """Questions about each state; equal ones make the same code.

    Answers are a truth for each of `predicates`, then one for each step of `actions` (numbered as
    in the model): True if it is enabled and cut. `numbers` are the settings in order, None for
    those that are read as it runs.
    """

    layout: Layout
    names: tuple[str, ...]
    numbers: tuple[int | None, ...]
    predicates: tuple[Pure, ...]
    actions: tuple[tuple[int, Action], ...]

    @property
    def cut_steps(self) -> tuple[int, ...]:
        """The steps in question, in the order of their answers (`origins.step_of`)."""
        return tuple(
            number << ACTION_SHIFT | packed
            for number, action in self.actions
            for packed in range(math.prod(_extents(self.layout, action)))
        )

    @property
    def columns(self) -> int:
        """How many answers a state has; one at the least, so that there are rows of them."""
        return max(1, len(self.predicates) + len(self.cut_steps))

    @property
    def recipe(self) -> Recipe:
        """Recipe of the loop `answer(settings, rows, start, stop, answers)`.

        It sets those of answers[row] that are true, and returns -1, or the first row that it cannot
        evaluate.
        """
        return Recipe(answers_program, (self,))


def questions_of(
    problem: Problem, predicates: Sequence[Pure], actions: Collection[str]
) -> Questions:
    """Return the questions for predicates, and for the steps of actions, by name.

    Actions that no bound ever cuts are left out.
    """
    model = problem.model
    return Questions(
        layout=model.layout,
        names=tuple(model.settings._fields),
        numbers=constants_of_settings(problem),
        predicates=tuple(predicates),
        actions=tuple(
            (number, action)
            for number, action in enumerate(model.actions)
            if action.name in actions
            and action.name in model.contents
            and not (action.limit is None and action.budget is None)
        ),
    )


def questions_for(problem: Problem) -> Questions | None:
    """Return the questions of the claims about behaviours; None without such claims.

    They are the two predicates of each claim, in the order of the claims.
    """
    claims = problem.applicable_behaviours
    if not claims:
        return None
    actions = problem.model.enabled_actions
    asked = [predicate for claim in claims for predicate in predicates_of(claim)]
    names = {*fair_actions(actions)}
    for claim in claims:
        if isinstance(claim, Recoverable):
            names |= {*ways_back(claim, actions)}
    return questions_of(problem, asked, names)


def rules_of(problem: Problem) -> tuple[Recipe, ...]:
    """All programs of a problem's rules: its kernel, and what claims about behaviours ask."""
    asked = questions_for(problem)
    return (*recipes_of(problem), *([asked.recipe] if asked is not None else []))


def answers_program(asked: Questions) -> Program:
    """The loop. Raises `NotCompilable`."""
    names: dict[str, object] = {**states.intrinsics(asked.layout)}
    text = "\n".join(_answer(asked, names)) + "\n"
    functions = sources_of(text, names)
    number, rows = Number("%"), ArrayValue("%", "i64", asked.layout.words)
    c = SettingsValue(asked.names, asked.numbers, "%c")
    answers = ArrayValue("%", "i8", asked.columns)
    unit = Unit()
    written = unit.call(functions["answer"], [c, rows, number, number, answers])
    return program(unit, given_settings(written))


def _answer(asked: Questions, names: dict[str, object]) -> Iterator[str]:
    yield "def answer(c, rows, start, stop, answers):"
    yield "    for row in range(start, stop):"
    yield "        s = state_at(rows, row)"
    for column, predicate in enumerate(asked.predicates):
        names[f"is_{column}"] = predicate
        yield f"        if is_{column}(s, c):"
        yield f"            answers[row, {column}] = 1"
    first = len(asked.predicates)
    for number, action in asked.actions:
        yield from _cut(asked, number, action, first, names)
        first += math.prod(_extents(asked.layout, action))
    yield "        if faulted():"
    yield "            lower_fault()"
    yield "            return row"
    yield "    return -1"


def _cut(
    asked: Questions, number: int, action: Action, first: int, names: dict[str, object]
) -> Iterator[str]:
    """True if each step of an action is enabled and beyond its budget or a limit."""
    names[f"guard_{number}"], names[f"limit_{number}"] = action.guard, action.limit
    pad, packed, given = " " * 8, "0", ""
    for i, extent in enumerate(_extents(asked.layout, action)):
        argument = f"a{number}_{i}"
        yield f"{pad}for {argument} in range({extent}):"
        pad += "    "
        packed = f"({packed}) * {extent} + {argument}"
        given += f", {argument}"
    yield f"{pad}if guard_{number}(s, c{given}):"
    if (budget := action.budget) is not None:
        yield f"{pad}    if s.{budget.used} >= c.{budget.setting}:"
        yield f"{pad}        answers[row, {first} + {packed}] = 1"
    if action.limit is not None:
        also = "if" if budget is None else "elif"
        state = "copy_of(s)" if action.limit_writes else "s"
        yield f"{pad}    {also} limit_{number}({state}, c{given}) != 0:"
        yield f"{pad}        answers[row, {first} + {packed}] = 1"


def _extents(layout: Layout, action: Action) -> list[int]:
    return [layout.sizes[parameter.over] for parameter in action.parameters]
