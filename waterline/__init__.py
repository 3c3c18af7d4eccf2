"""What a model of your own is written with, and run with: `from waterline import Protocol, when`.

docs/own-models.md teaches it. `waterline new NAME` writes a start, `waterline check --model FILE`
checks it; `waterline.check` does so from Python, and `waterline.step` runs one action.
"""

from __future__ import annotations

from model.core.state import OutOfRange
from model.own import (
    Action,
    BadProtocol,
    Bag,
    BeyondBound,
    Choice,
    Epoch,
    Epochs,
    Fields,
    Flag,
    Log,
    Name,
    Names,
    NotEnabled,
    Number,
    Opaque,
    Protocol,
    Queue,
    Set,
    Struct,
    Value,
    when,
    within,
)
from waterline.checking import RuleRaised, check
from waterline.models import Model, model
from waterline.result import Claim, Result
from waterline.running import (
    Step,
    copy,
    enabled,
    freeze,
    initial,
    initials,
    replace,
    step,
)
from waterline.state import Draft, State
from waterline.trace import Trace
from waterline.walking import simulate

__all__ = [
    "Action",
    "BadProtocol",
    "Bag",
    "BeyondBound",
    "Choice",
    "Claim",
    "Draft",
    "Epoch",
    "Epochs",
    "Fields",
    "Flag",
    "Log",
    "Model",
    "Name",
    "Names",
    "NotEnabled",
    "Number",
    "Opaque",
    "OutOfRange",
    "Protocol",
    "Queue",
    "Result",
    "RuleRaised",
    "Set",
    "State",
    "Step",
    "Struct",
    "Trace",
    "Value",
    "check",
    "copy",
    "enabled",
    "freeze",
    "initial",
    "initials",
    "model",
    "replace",
    "simulate",
    "step",
    "when",
    "within",
]
