"""The page of the package `waterline`: the signature and the docstring of each name it exports."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import waterline

_QUOTED = re.compile(r"""(: |-> )(?:'([^']*)'|"([^"]*)")""")


def page() -> str:
    """Return the page in Markdown: classes first, then functions."""
    names = sorted(waterline.__all__, key=lambda name: (name.islower(), name))
    entries = (part for name in names for part in _entry(name, getattr(waterline, name)))
    return "\n".join(["# Python API\n", f"{inspect.getdoc(waterline)}\n", *entries])


def _entry(name: str, value: Any) -> Iterator[str]:
    yield from (f"## {name}\n", _code(name, value), f"{inspect.getdoc(value) or ''}\n")
    # A declaration is all in its docstring; its methods are for the checker.
    if inspect.isclass(value) and not value.__module__.startswith("waterline.model"):
        for inner, member in vars(value).items():
            doc = inspect.getdoc(member)
            if not inner.startswith("_") and doc and not isinstance(member, str):
                yield from (f"### {name}.{inner}\n", _code(inner, member), f"{doc}\n")


def _code(name: str, value: Any) -> str:
    """Return the signature as Python, if it has one."""
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    if is_error or not callable(value):
        return ""
    signature = inspect.signature(value)
    shown = [each for each in signature.parameters.values() if each.name != "self"]
    public = [each for each in shown if not each.name.startswith("_")]
    text = _QUOTED.sub(r"\1\2\3", str(signature.replace(parameters=public)))
    return f"```python\n{name}{text.removesuffix(' -> None')}\n```\n"
