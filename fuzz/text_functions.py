"""Functions from generated text."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from waterline.model.core.made import function_of


def functions_of(text: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """The functions that a text defines; `names` and one another are what they may refer to."""
    known: dict[str, Any] = {"__name__": __name__, **names}
    for tree in ast.parse(text).body:
        assert isinstance(tree, ast.FunctionDef)
        known[tree.name] = function_of(tree, "<generated>", known)
    return {name: thing for name, thing in known.items() if name not in names}
