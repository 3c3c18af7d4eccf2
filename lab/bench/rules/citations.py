"""The methods of Kafka that the rules cite, as "Class.method", read from the rules' own texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

RULES = Path(__file__).parents[3] / "model" / "message"

_CITED = re.compile(r"(?<![\w.])([A-Z][a-z]\w*)\.([a-z]\w*)\b(?!\()")


def cited_in(source: str) -> set[str]:
    """The methods that the texts of one module cite: docstrings, and strings such as `source=`."""
    return {
        f"{class_name}.{method}"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for class_name, method in _CITED.findall(node.value)
    }


def citations(files: Iterable[Path] | None = None) -> dict[str, list[str]]:
    """By method, the modules that cite it; those of `model/message` where no `files` are given."""
    found: dict[str, list[str]] = {}
    for file in sorted(RULES.glob("*.py") if files is None else files):
        for method in cited_in(file.read_text(encoding="utf-8")):
            found.setdefault(method, []).append(file.name)
    return dict(sorted(found.items()))
