"""The methods of a class, from a file of Scala or Java.

A class is every `class`, `object`, `trait`, `interface`, `enum` or `record` of a name, with its
companion; overloaded methods are one, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Container

from lab.bench.rules.text import closing, literal_end, without_comments

_DECLARATION = re.compile(r"\b(?:class|object|trait|interface|enum|record)\s+([A-Z]\w*)")
_MODIFIERS = (
    r"(?:(?:override|private|protected|final|abstract|implicit|sealed|lazy|case)\b"
    r"(?:\s*\[\w+\])?\s*|@\w+(?:\([^)]*\))?\s*)*"
)
_SCALA_MEMBER = re.compile(
    rf"[ \t]*{_MODIFIERS}(?:def\s+(?P<method>\w+)|(?:val|var|type|class|object|trait)\b)"
)
_ANNOTATION = re.compile(r"@\w+(?:\.\w+)*\s*")
_CALLED = re.compile(r"(\w+)\s*$")

Methods = dict[str, str]
"""By name, the text of a method without comments."""


def classes_in(text: str, *, is_scala: bool, wanted: Container[str]) -> dict[str, Methods]:
    """By class of those `wanted`, inner classes too, its methods."""
    text = without_comments(text)
    found: dict[str, Methods] = {}
    for declared in _DECLARATION.finditer(text):
        if declared[1] not in wanted:
            continue
        body = _body(text, declared.end(), is_scala=is_scala)
        members = _scala_methods(body) if is_scala else _java_methods(body)
        methods = found.setdefault(declared[1], {})
        for name, member in members:
            methods[name] = f"{methods[name]}\n{member}" if name in methods else member
    return found


def _body(text: str, at: int, *, is_scala: bool) -> str:
    """What is between the braces of a class whose name ends at `at`; "" where it has none."""
    while at < len(text):
        end = literal_end(text, at)
        if end:
            at = end
        elif text[at] == "{":
            return text[at + 1 : closing(text, at)]
        elif text[at] in "([":
            at = closing(text, at) + 1
        elif text[at] in ";})]" or (is_scala and _begins_another(text, at)):
            return ""
        else:
            at += 1
    return ""


def _begins_another(text: str, at: int) -> bool:
    """A class without a body ends where the next declaration begins, on a line of its own."""
    return text[at] == "\n" and _SCALA_MEMBER.match(text, at + 1) is not None


def _scala_methods(body: str) -> list[tuple[str, str]]:
    """From each `def` on a line outside all brackets up to the next member."""
    starts = []
    at = 0
    while at < len(body):
        member = _SCALA_MEMBER.match(body, at) if at == 0 or body[at - 1] == "\n" else None
        if member:
            starts.append((member["method"], at))
            at = member.end()
            continue
        end = literal_end(body, at)
        if not end and body[at] in "([{":
            end = closing(body, at) + 1
        at = end or at + 1
    ends = [*(start for _, start in starts), len(body)][1:]
    return [
        (name, body[start:end].strip("\n").rstrip())
        for (name, start), end in zip(starts, ends, strict=True)
        if name
    ]


def _java_methods(body: str) -> list[tuple[str, str]]:
    """Every member up to its semicolon or closing brace; a method is one that calls for brackets
    before anything is assigned.
    """
    found = []
    start = at = 0
    name: str | None = None
    is_field = False
    while at < len(body):
        annotation = _ANNOTATION.match(body, at)
        end = literal_end(body, at)
        if annotation and name is None and not is_field:
            at = annotation.end()
            at = closing(body, at) + 1 if body.startswith("(", at) else at
        elif end:
            at = end
        elif body[at] == "(":
            called = _CALLED.search(body, start, at)
            if name is None and not is_field and called:
                name = called[1]
            at = closing(body, at) + 1
        elif body[at] == "{" and is_field:
            at = closing(body, at) + 1
        elif body[at] in "{;":
            at = (closing(body, at) if body[at] == "{" else at) + 1
            if name is not None:
                found.append((name, body[start:at].strip("\n").rstrip()))
            start, name, is_field = at, None, False
        else:
            is_field = is_field or (body[at] == "=" and name is None)
            at += 1
    return found
