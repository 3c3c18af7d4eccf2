"""What a model of your own is written with: `from waterline import Protocol, when, ...`.

docs/own-models.md teaches it. `waterline new NAME` writes a start, `waterline check --model FILE`
checks it.
"""

from __future__ import annotations

from model.own import (
    Action,
    Choice,
    Flag,
    Log,
    Name,
    Names,
    Number,
    Protocol,
    Queue,
    Set,
    when,
    within,
)

__all__ = [
    "Action",
    "Choice",
    "Flag",
    "Log",
    "Name",
    "Names",
    "Number",
    "Protocol",
    "Queue",
    "Set",
    "when",
    "within",
]
