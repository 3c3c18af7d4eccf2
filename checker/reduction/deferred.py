"""Deferred choice: a field keeps the set of its possible values until it is read.

Some actions do nothing but write a field that no asked claim sees, whenever they like, as Kafka's
brokers checkpoint their high watermarks. Every moment at which they may do so is a state of its
own; and it matters only to the few actions that read the field later. So a set of values takes the
place of the value: after each step it gains what those actions could write now, and an action that
touches the field is taken once for each value in the set. A state of the reduced model is exactly
all states of the full one that differ in that field alone and can be reached by the same other
steps.

It is done to a field with one row for each value of some argument, if every action that writes or
reads it does so only in the row of its own argument, and its guard and its limit do not look at it.
Of two such fields of which one is written from the other only the first is.
"""

from __future__ import annotations

from checker.reduction.abstract_state import Fields
from checker.reduction.effects import Steps
from checker.reduction.plan import Postponed
from model.core.layout import Field
from model.core.renaming import Holds

VALUES_MAX = 6
"""A set of more values would take more room than telling them apart costs states."""


def postponed_fields(steps: Steps, seen: Fields, matter: Fields) -> list[Postponed]:
    """The fields that can be postponed, where claims and the normal form read `seen`."""
    found: list[Postponed] = []
    for declared in steps.model.layout.fields:
        fits = len(declared.shape) == 1 and declared.alive is None
        if not fits or declared.name in seen or declared.name not in matter:
            continue
        plain = declared.naming is None or declared.naming.holds is Holds.PLAIN
        if not plain or not 2 <= declared.hi - declared.lo + 1 <= VALUES_MAX:
            continue
        postponed = _postponed(steps, declared)
        if postponed is not None and not any(_is_made_of(postponed, each) for each in found):
            found.append(postponed)
    return found


def _is_made_of(one: Postponed, other: Postponed) -> bool:
    """Whether either is written from the other: of a set of values, and not of one of them."""
    writers = {*one.writers, *other.writers}
    return not writers.isdisjoint({*one.others, *other.others})


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
