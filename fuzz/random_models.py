"""Random little models: a few small fields, a few actions, and a claim, all made from a seed.

Their actions are shaped so that every reduction has something to do now and then: fields that no
claim sees, steps that only write such a field, steps of one row that others leave alone or undo,
fields of a row that are tied to one another.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from fuzz.text_functions import functions_of
from waterline.checker.problem.problem import Problem
from waterline.model.core.claim import ActionProperty, Invariant, Reachable
from waterline.model.core.layout import Field, Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Budget, Model, Narration, Parameter

ROWS = ("a", "b", "h", "q")
SWITCH = "u"
MOSTLY = ("a", "a", "b", "b", "h", "q", "u")
CLAIMED = ("a", "a", "a", "b", "b", "b", "h")
NUMBERS = ("g", "w")
STATES_MAX = 400
OVERWRITTEN = 0.2
"""How many of the models have a field that is dead now and then."""
BY_VARIABLE = 0.1
"""How many have an action that goes by a variable which it assigned under a condition."""
BUDGETED, BUDGETED_OFTEN = 0.1, 0.4
"""How many of the actions have a budget."""
_NARRATION = Narration(sentence=str, rows=lambda state: [], summary=lambda state: [])
_SETTINGS = type("Settings", (tuple,), {"_fields": ("most",), "most": property(lambda c: c[0])})


def random_problem(seed: int) -> Problem:
    """A problem that is the same for the same seed, in every process."""
    draw = random.Random(seed)
    layout = Layout(
        [Field(name=name, hi=2, shape=(2,), doc="") for name in ROWS]
        + [Field(name=SWITCH, hi=1, shape=(2,), doc="")]
        + [Field(name=name, hi=draw.choice((1, 3)), doc="") for name in NUMBERS]
        + [Field(name="used", hi=3, doc="")],
        sizes={"rows": 2},
    )
    texts = [_action(draw) for _ in range(draw.randint(2, 5))]
    texts += draw.choice(([], _POSTPONED, _AT_ONCE, [*_POSTPONED, *_AT_ONCE], _TIED))
    # Drawn apart, so that what a seed makes otherwise stays what it was.
    is_overwritten = random.Random(f"overwritten {seed}").random() < OVERWRITTEN
    texts += _OVERWRITTEN if is_overwritten else []
    apart = random.Random(f"remembered in a variable {seed}")
    texts += _by_variable(apart) if apart.random() < BY_VARIABLE else []
    draw.shuffle(texts)
    often = BUDGETED_OFTEN if is_overwritten else BUDGETED
    actions = tuple(_made(draw, number, often, *parts) for number, parts in enumerate(texts))
    model = Model(
        name="random",
        version=str(seed),
        layout=layout,
        settings=_SETTINGS((draw.randint(0, 2),)),
        actions=actions,
        contents=tuple(action.name for action in actions),
        limits=("within", "used", "bound"),
        initial=(State(layout),),
        narration=_NARRATION,
        options={},
    )
    return Problem(model, (_invariant(draw),), (_reachable(draw),), properties=(_property(draw),))


_Parts = tuple[tuple[str, ...], str, list[str]]
_POSTPONED: list[_Parts] = [
    (("i",), "s.h[i] != s.a[i] and s.b[i] != 2", ["s.h[i] = s.a[i]"]),
    (("i",), "s.g == 0 and s.a[i] == 2", ["s.b[i] = s.h[i]"]),
    (("i",), "s.a[i] < 2", ["s.a[i] = s.a[i] + 1"]),
]
"""A field that is written at leisure and read now and then."""
_AT_ONCE: list[_Parts] = [
    (("i",), "s.q[i] == 0 and s.b[i] != 1", ["s.q[i] = 1"]),
    (("i",), "s.q[i] == 1", ["s.q[i] = 2", "s.a[i] = min(s.a[i] + 1, 2)"]),
    (("i",), "s.q[i] == 2", ["s.q[i] = 0", "s.b[i] = min(s.b[i], s.a[i])"]),
]
"""A request, its answer, and what is done with the answer, which may be nothing."""
_TIED: list[_Parts] = [
    (("i",), "s.u[i] == 0 and s.w == 0", ["s.u[i] = 1"]),
    (("i",), "s.u[i] == 1 and s.q[i] == 0", ["s.q[i] = 1"]),
    (("i",), "s.q[i] == 1 and s.b[i] != 1", ["s.q[i] = 2"]),
    (("i",), "s.u[i] == 1", ["s.q[i] = 0", "s.u[i] = 0"]),
    (("i",), "s.u[i] == 0 and s.a[i] < 2", ["s.b[i] = s.q[i]", "s.a[i] = s.a[i] + 1"]),
]
"""What is switched off forgets how far it was; an action that is random may break that."""
_OVERWRITTEN: list[_Parts] = [
    (("i",), "s.u[i] == 0 and s.w == 0", ["s.q[i] = s.a[i]", "s.u[i] = 1"]),
    (("i",), "s.u[i] == 1 and s.q[i] == 2", ["s.b[i] = 1"]),
    (("i",), "s.u[i] == 1", ["s.u[i] = 0"]),
    (("i",), "s.a[i] < 2", ["s.a[i] = s.a[i] + 1"]),
]
"""What was remembered is left behind, and replaced before anybody asks for it again."""


def _action(draw: random.Random) -> _Parts:
    """Over which rows an action is, its guard, and its effect line by line."""
    rows = draw.choice(((), ("i",), ("i",), ("i",), ("i", "j")))
    kind = draw.random()
    if kind < 0.25 and rows:
        # Does nothing but write a field of its own row.
        hidden, source = draw.choice(("h", "q")), draw.choice(("a", "b"))
        guard = f"s.{hidden}[i] != s.{source}[i]"
        body = [f"s.{hidden}[i] = s.{source}[i]"]
    elif kind < 0.55 and rows:
        # A step of one row, from one value of a field to another.
        hidden, (before, after) = draw.choice(("h", "q")), draw.sample(range(3), 2)
        guard = f"s.{hidden}[i] == {before}"
        if draw.random() < 0.5:
            guard += f" and {_atom(draw, rows)}"
        body = [f"s.{hidden}[i] = {after}"]
        if draw.random() < 0.3:
            body.append(f"s.{draw.choice(ROWS)}[i] = {draw.randint(0, 2)}")
    elif kind < 0.7 and rows:
        # Reads or undoes what others only write.
        hidden, shown = draw.choice(("h", "q")), draw.choice(("a", "b"))
        guard = _atom(draw, rows, ("a", "b"))
        body = draw.choice(
            (
                [f"s.{shown}[i] = s.{hidden}[i]"],
                [f"s.{shown}[i] = 1", f"s.{hidden}[i] = 0"],
                [f"s.{hidden}[0] = 0", f"s.{hidden}[1] = 0", "s.g = 1"],
                [f"if s.{hidden}[i] == 1:", "    s.g = 0", "else:", f"    s.{shown}[i] = 2"],
            )
        )
    else:
        guard = " and ".join(_atom(draw, rows) for _ in range(draw.randint(1, 2)))
        body = [line for _ in range(draw.randint(1, 3)) for line in _statement(draw, rows)]
    return rows, guard, body


def _by_variable(draw: random.Random) -> list[_Parts]:
    """What is written, or whether, rests on a field by way of a variable alone."""
    rows = ("i",)
    decides = draw.choice(("s.q[i]", "s.h[i]", "s.w"))
    place = _place(draw, rows, ("a", "b"))
    ends = draw.choice(([f"{place} = min(x, 1)"], ["if x == 0:", f"    {place} = 1"]))
    body = ["x = 0", f"if {decides} == 1:", "    x = 2", *ends]
    return [
        (rows, f"{decides} == 0", [f"{decides} = 1"]),
        (rows, _atom(draw, rows, ("a", "b")), body),
    ]


def _made(
    draw: random.Random,
    number: int,
    often: float,
    rows: tuple[str, ...],
    guard: str,
    body: list[str],
) -> Action:
    given = "".join(f", {name}" for name in rows)
    text = f"def guard(s, c{given}):\n    return {guard}\n\n"
    text += f"def effect(s, c{given}):\n" + "".join(f"    {line}\n" for line in body)
    text += f"\ndef limit(s, c{given}):\n    return 2 if {_atom(draw, rows)} else 0\n"
    functions = functions_of(text, {})
    return Action(
        name=f"step{number}",
        parameters=tuple(Parameter(name, "rows") for name in rows),
        guard=functions["guard"],
        effect=functions["effect"],
        limit=functions["limit"] if draw.random() < 0.1 else None,
        budget=Budget("used", "most", "used") if draw.random() < often else None,
    )


def _place(draw: random.Random, rows: tuple[str, ...], of: tuple[str, ...] = MOSTLY) -> str:
    if rows and draw.random() < 0.75:
        return f"s.{draw.choice(of)}[{draw.choice(rows)}]"
    if draw.random() < 0.3:
        return f"s.{draw.choice(of)}[{draw.randint(0, 1)}]"
    return f"s.{draw.choice(NUMBERS)}"


def _atom(draw: random.Random, rows: tuple[str, ...], of: tuple[str, ...] = MOSTLY) -> str:
    left = _place(draw, rows, of)
    right = _place(draw, rows, of) if draw.random() < 0.3 else str(draw.randint(0, 2))
    return f"{left} {draw.choice(('==', '!=', '<', '>='))} {right}"


def _statement(draw: random.Random, rows: tuple[str, ...]) -> Iterator[str]:
    kind = draw.random()
    if kind < 0.2:
        yield "for k in range(2):"
        yield f"    if {_atom(draw, ('k', *rows))}:"
        yield f"        s.{draw.choice(ROWS)}[k] = {_value(draw, ('k', *rows))}"
    elif kind < 0.4:
        yield f"if {_atom(draw, rows)}:"
        yield f"    {_assignment(draw, rows)}"
        if draw.random() < 0.5:
            yield "else:"
            yield f"    {_assignment(draw, rows)}"
    else:
        yield _assignment(draw, rows)


def _assignment(draw: random.Random, rows: tuple[str, ...]) -> str:
    place = _place(draw, rows)
    most = 2 if "[" in place and not place.startswith(f"s.{SWITCH}[") else 1
    return f"{place} = min({_value(draw, rows)}, {most})"


def _value(draw: random.Random, rows: tuple[str, ...]) -> str:
    kind = draw.random()
    if kind < 0.4:
        return str(draw.randint(0, 2))
    if kind < 0.7:
        return f"min({_place(draw, rows)}, 2)"
    return f"({_place(draw, rows)} + 1) % 3"


def _invariant(draw: random.Random) -> Invariant:
    atoms = " and ".join(_atom(draw, (), CLAIMED) for _ in range(draw.randint(1, 3)))
    holds = functions_of(f"def holds(s, c):\n    return not ({atoms})\n", {})["holds"]
    return Invariant(name="claim", sentence="", holds=holds, explain=_explain)


def _property(draw: random.Random) -> ActionProperty:
    place = _place(draw, (), CLAIMED)
    text = f"def keeps(s, t, c):\n    return not ({place} > {place.replace('s.', 't.')})\n"
    return ActionProperty(
        name="rises", sentence="", keeps=functions_of(text, {})["keeps"], explain=_explain
    )


def _reachable(draw: random.Random) -> Reachable:
    place = _place(draw, (), CLAIMED)
    text = f"def happens(s, t, c):\n    return {place} == 0 and {place.replace('s.', 't.')} == 1\n"
    return Reachable(name="begins", sentence="", happens=functions_of(text, {})["happens"])


def _explain(*given: Any) -> str:
    return ""


def verdicts(problem: Problem) -> tuple[dict[str, bool], int] | None:
    """Of each claim whether it is broken, or happens, by a plain search; and how many states.

    None where there are too many to be gone through in no time.
    """
    model, settings = problem.model, problem.model.settings
    found = {claim.name: False for claim in (*problem.claims, *problem.reachable)}
    seen = set(model.initial)
    level = list(model.initial)
    while level:
        following = []
        for state in level:
            for claim in problem.applicable:
                found[claim.name] |= not claim.holds(state, settings)
            for step in model.successors(state):
                for prop in problem.applicable_properties:
                    found[prop.name] |= not prop.keeps(state, step.after, settings)
                for reachable in problem.reachable:
                    found[reachable.name] |= bool(reachable.happens(state, step.after, settings))
                if step.after not in seen:
                    seen.add(step.after)
                    following.append(step.after)
        if len(seen) > STATES_MAX:
            return None
        level = following
    return found, len(seen)
