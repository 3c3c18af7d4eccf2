"""Reads what TLC prints of a trace: states as values of Python, to compare with what was written.

A function is a dict, a tuple of TLA+ too: it is a function over 1..n.
"""

from __future__ import annotations

import re
from typing import Any

_TOKEN = re.compile(r'\s*(<<|>>|@@|:>|\|->|[][(){},]|-?\d+|[A-Za-z_]+|"(?:[^"\\]|\\.)*")')
_NAMED = {"TRUE": True, "FALSE": False, "None": None}
_STATE = re.compile(r"State (\d+): <(.*)>")


def states_of(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Of each state what led there, and every variable."""
    found: list[tuple[str, dict[str, Any]]] = []
    for line in text.splitlines():
        if head := _STATE.fullmatch(line):
            assert int(head[1]) == len(found) + 1
            found.append((head[2], {}))
        elif line.startswith("/\\ "):
            name, value = line[3:].split(" = ", 1)
            found[-1][1][name] = value_of(value)
    return found


def value_of(text: str) -> Any:
    """A value of TLA+, of which nothing may be left."""
    tokens = _TOKEN.findall(text)
    value = _value(tokens)
    assert not tokens
    return value


def _value(tokens: list[str]) -> Any:
    token = tokens.pop(0)
    if token == "<<":
        return dict(enumerate(_listed(tokens, ">>"), start=1))
    if token == "{":
        # A record is a dict, which no set of Python may have.
        members = _listed(tokens, "}")
        return members if any(isinstance(each, dict) for each in members) else frozenset(members)
    if token == "(":
        function = {}
        while token != ")":
            key = _value(tokens)
            assert tokens.pop(0) == ":>"
            function[key] = _value(tokens)
            token = tokens.pop(0)
        return function
    if token == "[":
        record = {}
        while token != "]":
            key = tokens.pop(0)
            assert tokens.pop(0) == "|->"
            record[key] = _value(tokens)
            token = tokens.pop(0)
        return record
    if token in _NAMED:
        return _NAMED[token]
    return token[1:-1].replace('\\"', '"').replace("\\\\", "\\") if token[0] == '"' else int(token)


def _listed(tokens: list[str], end: str) -> list[Any]:
    found = []
    while tokens[0] != end:
        found.append(_value(tokens))
        if tokens[0] == ",":
            tokens.pop(0)
    tokens.pop(0)
    return found
