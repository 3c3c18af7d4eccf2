"""Models that users write: one file, declarations and plain functions, nothing of Kafka.

`declared` is what such a file is written with, `rules` reads its functions as actions and claims,
`building` makes a transition system of them, `narration` tells its steps.
"""

from __future__ import annotations

from model.own.declared import (
    Action,
    BadProtocol,
    Choice,
    Flag,
    Name,
    Names,
    Number,
    Protocol,
    when,
    within,
)

__all__ = [
    "Action",
    "BadProtocol",
    "Choice",
    "Flag",
    "Name",
    "Names",
    "Number",
    "Protocol",
    "when",
    "within",
]
