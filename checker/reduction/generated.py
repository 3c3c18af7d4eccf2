"""Generated functions of a reduced model."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from model.core.made import function_of


def made(text: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """The functions of a text, whose names stand for these things and for one another."""
    known: dict[str, Any] = {"__name__": __name__, **names}
    for tree in ast.parse(text).body:
        assert isinstance(tree, ast.FunctionDef)
        known[tree.name] = function_of(tree, "<reduced>", known)
    return {name: thing for name, thing in known.items() if name not in names}
