"""Declarations and functions for your own model: `from waterline import Protocol, when`.

docs/own-models.md teaches it. `waterline new NAME` writes a start, `waterline check --model FILE`
checks it; `waterline.check` does so from Python, and `waterline.step` runs one action.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waterline.checking import RuleRaised, check
    from waterline.model.core.state import OutOfRange
    from waterline.model.own import (
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
    from waterline.models import Model, instance
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
    from waterline.state_graph import Graph, Path, Paths, graph
    from waterline.trace import Trace, simulate

_DEFINED_ELSEWHERE = {
    "waterline.model.core.state": ("OutOfRange",),
    "waterline.checking": ("RuleRaised", "check"),
    "waterline.models": ("Model", "instance"),
    "waterline.result": ("Claim", "Result"),
    "waterline.running": (
        "Step",
        "copy",
        "enabled",
        "freeze",
        "initial",
        "initials",
        "replace",
        "step",
    ),
    "waterline.state": ("Draft", "State"),
    "waterline.state_graph": ("Graph", "Path", "Paths", "graph"),
    "waterline.trace": ("Trace", "simulate"),
}

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
    "Graph",
    "Log",
    "Model",
    "Name",
    "Names",
    "NotEnabled",
    "Number",
    "Opaque",
    "OutOfRange",
    "Path",
    "Paths",
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
    "graph",
    "initial",
    "initials",
    "instance",
    "replace",
    "simulate",
    "step",
    "when",
    "within",
]
_MODULES = dict.fromkeys(__all__, "waterline.model.own") | {
    name: module for module, names in _DEFINED_ELSEWHERE.items() for name in names
}


def __getattr__(name: str) -> object:
    """Import a name when it is first used (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
