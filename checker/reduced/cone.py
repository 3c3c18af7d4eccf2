"""The cone of influence: what no asked claim can tell is not kept.

A field matters if an asked claim reads it, if what is written to a field that matters is made of
it, or if it decides when an action is taken that writes a field that matters. What remains may have
any value without a difference to any of these: it is put to its lowest value. An action that writes
nothing that matters changes nothing that can be told, and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from checker.reduced.stepping import Steps, normal_form_of
from checker.reduced.worlds import NOTHING, Fields


@dataclass(frozen=True, slots=True)
class Cone:
    """The fields that matter, those that do not though they vary, and the actions left out.

    `never` are actions that cannot happen within these bounds and budgets.
    """

    matter: Fields
    left_out: tuple[str, ...]
    actions: tuple[str, ...]
    never: tuple[str, ...]


def cone_of(steps: Steps, asked: Fields, gone: frozenset[str] = NOTHING) -> Cone:
    """What matters to claims that read these fields, once the actions `gone` happen no more."""
    model = steps.model
    budgets = {a.name: a.budget.used for a in model.actions if a.budget is not None}
    alive = {f.name: f.alive.field for f in model.layout.fields if f.alive is not None}
    matter = asked
    acting: set[str] = set()
    normal = normal_form_of(steps)
    happening = {call: seen for call, seen in steps.seen.items() if call[0] not in gone}
    while True:
        more = set(matter)
        more.update(alive[name] for name in matter if name in alive)
        # The smaller model is normalised after every step.
        written = matter & normal.fields_written
        more.update(*(normal.made_of[name] for name in written))
        for (action, arguments), seen in happening.items():
            written = matter & frozenset(seen.made_of) & seen.fields_written
            if not written:
                continue
            acting.add(action)
            more |= steps.conditions[action, arguments]
            more.update(*(seen.made_of[name] for name in written))
            if action in budgets:
                more.add(budgets[action])
        if more == matter:
            break
        matter = frozenset(more)
    happen = {name for name, _ in happening}
    return Cone(
        matter,
        tuple(
            f.name
            for f in model.layout.fields
            if f.name not in matter and len(steps.ranges[f.name]) > 1
        ),
        tuple(n for n in model.contents if n in happen and n not in acting),
        tuple(n for n in model.contents if n not in happen),
    )
