"""History of the message grain: the epoch that exposed each record, and the size of answers.

An induction needs it to say "exposed in an epoch that this replica knows", and that an answer has
no holes. It is written after each step, and no rule reads it. Epochs of records that nothing holds
stay: the normal form serves the search alone. Budgets fall away: there may be any number of crashes
and moves.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from waterline.model.core.layout import Field, Layout
from waterline.model.core.renaming import BY_REPLICA, PLAIN
from waterline.model.core.state import NotAlive, State
from waterline.model.core.transition_system import Model
from waterline.model.message.roles import follows
from waterline.model.message.terms import ANSWERED, LEADER, NO_REPLICA

NO_ANSWER_HELD = -1


def with_history(model: Model) -> Model:
    """The same model, with the history as a part of its state, and without budgets."""
    sizes = dict(model.layout.sizes)
    records, replicas = sizes["records"], sizes["replicas"]
    fields = (
        Field(
            name="noted_end",
            hi=records,
            naming=PLAIN,
            doc="How many offsets the history has.",
        ),
        Field(
            name="expose_epoch",
            hi=sizes["epochs"],
            shape=(records,),
            naming=PLAIN,
            doc="The epoch of the leader that exposed the record at each offset.",
        ),
        Field(
            name="answer_size",
            lo=NO_ANSWER_HELD,
            hi=records,
            shape=(replicas,),
            naming=BY_REPLICA,
            doc="Records in the answer that is on its way to a follower, -1 for no answer.",
        ),
    )
    form = Layout((*model.layout.fields, *fields), sizes=sizes)
    (first,) = model.initial
    actions = tuple(replace(each, budget=None, stays_normal=False) for each in model.actions)
    initial = (_initial(form, first),)
    return replace(model, layout=form, initial=initial, actions=actions, normalise=remember)


def _initial(form: Layout, first: State) -> State:
    draft = State(form).draft()
    names = [field.name for field in first.layout.fields]
    for name in sorted(names, key=lambda name: form.places[name].alive is not None):
        for index in form.elements[name]:
            if index == ():
                setattr(draft, name, getattr(first, name))
            else:
                with suppress(NotAlive):
                    getattr(draft, name)[index] = getattr(first, name)[index]
    for replica in range(form.sizes["replicas"]):
        draft.answer_size[replica] = NO_ANSWER_HELD
    return draft.freeze()


def remember(s: Any, c: Any) -> None:
    """Note the epoch that exposed records, and how many an answer has as it is given."""
    leader = exposer(s)
    if leader != NO_REPLICA:
        for offset in range(s.noted_end, s.exposed_end):
            s.expose_epoch[offset] = s.known_epoch[leader]
        s.noted_end = s.exposed_end
    for replica in range(s.replicas):
        if not follows(s, replica) or s.fetch[replica] != ANSWERED:
            s.answer_size[replica] = NO_ANSWER_HELD
        elif s.answer_size[replica] == NO_ANSWER_HELD:
            s.answer_size[replica] = max(0, s.leo[s.known_leader[replica]] - s.leo[replica])


def exposer(s: Any) -> int:
    """The leader whose high watermark has passed all that was exposed before, or NO_REPLICA."""
    if s.exposed_end > s.noted_end:
        for replica in range(s.replicas):
            if s.role[replica] == LEADER and s.hw[replica] == s.exposed_end:
                return replica
    return NO_REPLICA


def describe(s: State) -> str:
    """The history in words: `exposed: m1@0 m2@1`, each record with the epoch of its exposure."""
    fields: Any = s
    ends = range(fields.noted_end)
    each = [f"m{fields.exposed[o]}@{fields.expose_epoch[o]}" for o in ends]
    return f"exposed: {' '.join(each) or 'nothing'}"
