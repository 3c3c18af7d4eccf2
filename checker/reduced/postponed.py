"""A field whose value is decided only when it is read: until then all that it may be is kept.

Some actions do nothing but write a field that no asked claim sees, whenever they like, as Kafka's
brokers checkpoint their high watermarks. Every moment at which they may do so is a state of its
own; and it matters only to the few actions that read the field later. So a set of values takes the
place of the value: after each step it gains what those actions could write now, and an action that
touches the field is taken once for each value in the set. A state of the reduced model is exactly
all states of the full one that differ in that field alone and can be reached by the same other
steps.

It is done to a field with one row for each value of some argument, if whoever writes or reads it
does so only in the row of its own argument, and its guard and its limit do not look at it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from checker.reduced.made import made
from checker.reduced.stepping import Steps
from checker.reduced.worlds import Fields
from model.kit.layout import Field, Layout
from model.kit.renaming import Holds
from model.kit.transition_system import Action, Parameter

VALUES_MAX = 6
"""A set of more values would take more room than telling them apart costs states."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """A field that is postponed: its range, who only writes it, and who else touches it.

    `row` says by the name of an action which of its arguments is the row.
    """

    field: str
    lo: int
    hi: int
    writers: tuple[str, ...]
    others: tuple[str, ...]
    row: dict[str, int]

    @property
    def possible(self) -> str:
        """The name of the field that holds the set."""
        return f"possible_{self.field}"

    @property
    def values(self) -> str:
        """The name of the size that counts the values."""
        return f"values_of_{self.field}"

    @property
    def count(self) -> int:
        """How many values there are."""
        return self.hi - self.lo + 1


def postponed_fields(steps: Steps, seen: Fields, matter: Fields) -> list[Postponed]:
    """The fields that can be postponed, where claims and the normal form read `seen`."""
    found = []
    for declared in steps.model.layout.fields:
        fits = len(declared.shape) == 1 and declared.alive is None
        if not fits or declared.name in seen or declared.name not in matter:
            continue
        plain = declared.naming is None or declared.naming.holds is Holds.PLAIN
        if not plain or not 2 <= declared.hi - declared.lo + 1 <= VALUES_MAX:
            continue
        if (postponed := _postponed(steps, declared)) is not None:
            found.append(postponed)
    return found


def _postponed(steps: Steps, declared: Field) -> Postponed | None:
    actions = {action.name: action for action in steps.model.enabled_actions}
    rows: dict[str, set[int]] = {}
    only_writes: dict[str, bool] = {}
    for (name, arguments), seen in steps.seen.items():
        cells = {i for field, i, _ in seen.reads | seen.writes if field == declared.name}
        if not cells and declared.name not in seen.made_of:
            continue
        own = {k for k, value in enumerate(arguments) if cells <= {value}}
        rows[name] = rows.get(name, own) & own
        only = frozenset(seen.made_of) <= {declared.name}
        only = only and actions[name].budget is None and actions[name].limit is None
        only_writes[name] = only_writes.get(name, True) and only
    if not all(rows.values()):
        return None
    writers = tuple(name for name, only in only_writes.items() if only)
    others = tuple(name for name, only in only_writes.items() if not only)
    for (name, _), conditions in zip(steps.conditions, steps.conditions.values(), strict=True):
        if name in others and declared.name in conditions:
            return None
    if not writers:
        return None
    row = {name: min(at) for name, at in rows.items()}
    return Postponed(declared.name, declared.lo, declared.hi, writers, others, row)


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
