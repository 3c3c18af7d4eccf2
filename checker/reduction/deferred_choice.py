"""Representation of a deferred field: a set, and the step that picks a value.

Which fields are postponed, and why, is said in `checker.reduction.deferred`.
"""

from __future__ import annotations

from dataclasses import replace

from checker.reduction.generated import made
from checker.reduction.plan import Postponed
from model.core.layout import Field, Layout
from model.core.transition_system import Action, Parameter


def _sets(layout: Layout, postponed: Postponed) -> Field:
    """The field that holds the sets."""
    declared = next(f for f in layout.fields if f.name == postponed.field)
    return Field(
        name=postponed.possible,
        hi=(1 << postponed.count) - 1,
        shape=declared.shape,
        naming=declared.naming,
        doc=f"What {declared.name} may be, one bit a value.",
    )


def extended(layout: Layout, postponed: tuple[Postponed, ...]) -> Layout:
    """The layout with the sets."""
    sizes = {**layout.sizes, **{each.values: each.count for each in postponed}}
    return Layout([*layout.fields, *(_sets(layout, each) for each in postponed)], sizes=sizes)


def choosing(action: Action, postponed: Postponed) -> Action:
    """The action, taken for a value that the field may have; then it has what is left in it."""
    names = [parameter.name for parameter in action.parameters]
    row = names[postponed.row[action.name]]
    given = ", ".join(names)
    field, possible = postponed.field, postponed.possible
    value = f"{field}_value"
    functions = made(
        f"""
def may(s, c, {given}, {value}):
    if (s.{possible}[{row}] >> {value}) & 1 == 0:
        return False
    return guard(s, c, {given})


def bound(s, c, {given}, {value}):
    return limit(s, c, {given})


def take(s, c, {given}, {value}):
    s.{field}[{row}] = {value} + {postponed.lo}
    effect(s, c, {given})
    s.{possible}[{row}] = 1 << s.{field}[{row}] - {postponed.lo}
    s.{field}[{row}] = {postponed.lo}
""",
        {"guard": action.guard, "effect": action.effect, "limit": action.limit},
    )
    return replace(
        action,
        parameters=(*action.parameters, Parameter(value, postponed.values)),
        guard=functions["may"],
        effect=functions["take"],
        limit=functions["bound"] if action.limit is not None else None,
    )


def gathering(postponed: Postponed, actions: dict[str, Action]) -> tuple[str, dict[str, object]]:
    """Text that adds what could be written now, and what its names stand for."""
    field, possible = postponed.field, postponed.possible
    lines, names = [], dict[str, object]()
    for name in postponed.writers:
        action = actions[name]
        names |= {f"may_{name}": action.guard, f"do_{name}": action.effect}
        arguments = [parameter.name for parameter in action.parameters]
        pad = "    "
        for turn in action.parameters:
            lines.append(f"{pad}for {turn.name} in range(s.{turn.over}):")
            pad += "    "
        row = arguments[postponed.row[name]]
        given = ", ".join(arguments)
        lines += [
            f"{pad}for value in range({postponed.count}):",
            f"{pad}    if (s.{possible}[{row}] >> value) & 1 == 1:",
            f"{pad}        s.{field}[{row}] = value + {postponed.lo}",
            f"{pad}        if may_{name}(s, c, {given}):",
            f"{pad}            do_{name}(s, c, {given})",
            f"{pad}            s.{possible}[{row}] |= 1 << s.{field}[{row}] - {postponed.lo}",
            f"{pad}        s.{field}[{row}] = {postponed.lo}",
        ]
    # A value that was added may make another one possible: as often as there are values.
    body = "\n".join(f"    {line}" for line in lines)
    return f"    for again_{field} in range({postponed.count - 1}):\n{body}\n", names
