"""Models that users write: one file, declarations and plain functions, nothing of Kafka.

`declared`, `fields` and `questions` are what such a file is written with, `rules` reads its
functions as actions and claims, `building` makes a transition system of them, `narration` tells its
steps.
"""

from __future__ import annotations

from model.own.declared import Action, Protocol
from model.own.fields import BadProtocol, Choice, Flag, Log, Name, Names, Number, Queue, Set
from model.own.questions import BeyondBound, NotEnabled, when, within
from model.own.state_class import Fields

__all__ = [
    "Action",
    "BadProtocol",
    "BeyondBound",
    "Choice",
    "Fields",
    "Flag",
    "Log",
    "Name",
    "Names",
    "NotEnabled",
    "Number",
    "Protocol",
    "Queue",
    "Set",
    "when",
    "within",
]
