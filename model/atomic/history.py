"""History of the atomic grain: each record that a high watermark ever passed, and its epoch then.

An induction needs it to say "committed in an epoch that this replica knows". It is written after
each step, and no rule reads it: without it, each behaviour is one of the model as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from waterline.model.core.layout import Field, Layout
from waterline.model.core.renaming import PLAIN, RECORD_AT_OFFSET
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.terms import NO_REPLICA


def with_history(model: Model) -> Model:
    """The same model, with the history as a part of its state."""
    sizes = dict(model.layout.sizes)
    offsets = sizes["log_size"]
    fields = (
        Field(
            name="committed_end",
            hi=offsets,
            naming=PLAIN,
            doc="How many offsets were ever below a high watermark.",
        ),
        Field(
            name="committed",
            hi=sizes["records"],
            shape=(offsets,),
            naming=RECORD_AT_OFFSET,
            doc="The record that was committed at each offset.",
        ),
        Field(
            name="commit_epoch",
            hi=sizes["epochs"],
            shape=(offsets,),
            naming=PLAIN,
            doc="The epoch of the leader that committed it.",
        ),
    )
    form = Layout((*model.layout.fields, *fields), sizes=sizes)
    return replace(model, layout=form, initial=(State(form),), normalise=remember)


def ahead(s: Any) -> int:
    """The first replica with a high watermark above all that was committed, or NO_REPLICA."""
    for replica in range(s.replicas):
        if s.hw[replica] > s.committed_end:
            return replica
    return NO_REPLICA


def remember(s: Any, c: Any) -> None:
    """Note the record that a high watermark has passed for the first time: one in each step."""
    replica = ahead(s)
    if replica != NO_REPLICA:
        s.committed[s.committed_end] = s.log[replica, s.committed_end]
        s.commit_epoch[s.committed_end] = s.known_epoch[replica]
        s.committed_end += 1


def describe(s: State) -> str:
    """The history in words: `committed: m1@0 m2@1`, each record with the epoch of its commit."""
    fields: Any = s
    ends = range(fields.committed_end)
    each = [f"m{fields.committed[o]}@{fields.commit_epoch[o]}" for o in ends]
    return f"committed: {' '.join(each) or 'nothing'}"
