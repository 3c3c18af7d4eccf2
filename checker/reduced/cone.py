"""The cone of influence: what no asked claim can tell is not kept.

A field matters if an asked claim reads it, if what is written to a field that matters is made of
it, or if it decides when an action is taken that writes a field that matters. What remains may have
any value without a difference to any of these: it is put to its lowest value. An action that writes
nothing that matters changes nothing that can be told, and is left out.

With that value, which the field may never have in the full model, no step that is taken may raise:
a field that could make one do so matters as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from checker.reduced.elements import Seen
from checker.reduced.looking import SETTINGS, STATE
from checker.reduced.relations import NO_RELATIONS
from checker.reduced.stepping import Steps, normal_form_of
from checker.reduced.worlds import NOTHING, Fields, World


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
    while True:
        cone = _cone_of(steps, asked, gone)
        needed = _raising(steps, cone, gone).intersection(cone.left_out)
        if not needed:
            return cone
        asked |= needed


def _raising(steps: Steps, cone: Cone, gone: frozenset[str]) -> Fields:
    """The fields by which a step might raise, what is left out being at its lowest value."""
    if not cone.left_out:
        return frozenset()
    seen = Seen()
    places = steps.model.layout.places
    lowest = {name: frozenset((places[name].lo,)) for name in cone.left_out}
    then = replace(
        steps, ranges=steps.ranges | lowest, relations=NO_RELATIONS, conditions={}, seen={}
    )
    looker = then.looker(seen=seen)
    for call in steps.calls:
        if call[0].name not in gone.union(cone.actions):
            then.ways(looker, call, World())
    if steps.model.normalise is not None:
        looker.ways(steps.model.normalise, World(), (STATE, SETTINGS))
    return frozenset(seen.raised_by)


def _cone_of(steps: Steps, asked: Fields, gone: frozenset[str]) -> Cone:
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
