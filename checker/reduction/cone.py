"""Cone of influence: fields on which no asked claim depends are not kept.

A field matters if an asked claim reads it, if what is written to a field that matters is made of
it, or if it decides when an action is taken that writes a field that matters. What remains may have
any value without a difference to any of these: it is put to its lowest value. An action that writes
no kept field changes nothing observable and is left out.

With that value, which the field may never have in the full model, no step that is taken may raise:
a field that could make one do so matters as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from checker.reduction.abstract_state import NOTHING, SETTINGS, STATE, Fields, World
from checker.reduction.effects import Steps, normal_form_of
from checker.reduction.elements import Seen
from model.core.transition_system import Arguments


@dataclass(frozen=True, slots=True)
class Cone:
    """The fields that matter, those that do not though they vary, and the actions left out.

    `never` are actions that cannot happen within these bounds and budgets, `acting` those with
    their arguments that change what matters.
    """

    matter: Fields
    left_out: tuple[str, ...]
    actions: tuple[str, ...]
    never: tuple[str, ...]
    acting: frozenset[tuple[str, Arguments]]


def cone_of(
    steps: Steps, asked: Fields, gone: frozenset[str] = NOTHING, whole: Cone | None = None
) -> Cone:
    """What matters to claims that read these fields.

    Once the actions `gone` happen no more, if any; `whole` is the cone of before: what does not
    matter any more is then forgotten in a model that has all actions that are in it.
    """
    while True:
        cone = _cone_of(steps, asked, gone)
        needed = _missed(steps, cone, gone, whole or cone)
        if not needed:
            return cone
        asked |= needed


def _missed(steps: Steps, cone: Cone, gone: frozenset[str], whole: Cone) -> Fields:
    """The fields for want of which a step does what it never does: raise, or change what matters.

    What is left out is at its lowest value, which it may never have otherwise.
    """
    if not cone.left_out:
        return NOTHING
    there = steps.where_lowest(whole.left_out, cone.left_out)
    found: set[str] = set()
    for action, arguments in [*steps.calls, *steps.never]:
        if action.name in gone.union(whole.actions, whole.never):
            continue
        seen = Seen()
        changes = there.ways(there.looker(seen=seen), (action, arguments), World()) and (
            not cone.matter.isdisjoint(seen.fields_written)
            or (action.budget is not None and action.budget.used in cone.matter)
        )
        found |= seen.raised_by
        if changes and (action.name, arguments) not in cone.acting:
            found |= seen.fields_read
    if steps.model.normalise is not None:
        seen = Seen()
        there.looker(seen=seen).ways(steps.model.normalise, World(), (STATE, SETTINGS))
        found |= seen.raised_by
    return frozenset(cone.left_out) & found


def _cone_of(steps: Steps, asked: Fields, gone: frozenset[str]) -> Cone:
    model = steps.model
    budgets = {a.name: a.budget.used for a in model.actions if a.budget is not None}
    alive = {f.name: f.alive.field for f in model.layout.fields if f.alive is not None}
    matter = asked
    acting: set[tuple[str, Arguments]] = set()
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
            acting.add((action, arguments))
            more |= steps.conditions[action, arguments]
            more.update(*(seen.made_of[name] for name in written))
            if action in budgets:
                more.add(budgets[action])
        if more == matter:
            break
        matter = frozenset(more)
    happen = {name for name, _ in happening}
    names = {name for name, _ in acting}
    return Cone(
        matter,
        tuple(
            f.name
            for f in model.layout.fields
            if f.name not in matter and len(steps.ranges[f.name]) > 1
        ),
        tuple(n for n in model.contents if n in happen and n not in names),
        tuple(n for n in model.contents if n not in happen),
        frozenset(acting),
    )
