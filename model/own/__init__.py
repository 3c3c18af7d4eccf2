"""Models that users write: one file, declarations and plain functions, nothing of Kafka.

`declared`, `fields` and `questions` are what such a file is written with, `rules` reads its
functions as actions and claims, `building` makes a transition system of them, `narration` tells its
steps.
"""

from __future__ import annotations

from waterline.model.own.declared import Action, Protocol
from waterline.model.own.fields import (
    BadProtocol,
    Bag,
    Choice,
    Epoch,
    Epochs,
    Flag,
    Log,
    Name,
    Names,
    Number,
    Opaque,
    Queue,
    Set,
    Struct,
    Value,
)
from waterline.model.own.questions import BeyondBound, NotEnabled, when, within
from waterline.model.own.state_class import Fields

__all__ = [
    "Action",
    "BadProtocol",
    "Bag",
    "BeyondBound",
    "Choice",
    "Epoch",
    "Epochs",
    "Fields",
    "Flag",
    "Log",
    "Name",
    "Names",
    "NotEnabled",
    "Number",
    "Opaque",
    "Protocol",
    "Queue",
    "Set",
    "Struct",
    "Value",
    "when",
    "within",
]
