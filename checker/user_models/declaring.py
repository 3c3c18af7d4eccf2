"""What Python says of a wrong declaration, in the words of declarations."""

from __future__ import annotations

import re

from model import own
from model.core.nearest import did_you_mean_or
from model.own import Protocol

_USAGE = {
    "Names": "Names takes a name and how many there are, as Names('node', nodes)",
    "Flag": "Flag takes a name alone, and by=, as Flag('sent', by=node); it is False at first",
    "Number": "Number takes a name, the least and the greatest number, as Number('term', 0, terms)",
    "Choice": "Choice takes a name and its words, as Choice('state', 'idle', 'busy')",
    "Name": "Name takes a name and a sort, as Name('leader', node, or_none=True)",
    "Action": "Action takes a function and what its arguments range over, as "
    "Action(send, source=node)",
}
_INIT = re.compile(r"(\w+)\.__init__\(\) (.+)")
_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'")
_MISSING = re.compile(r"(\w+)\(\) missing \d+ required positional arguments?: .+")
_WRITTEN_WITH = [name for name in own.__all__ if name != "BadProtocol"]
_PROTOCOL = tuple(Protocol.__dataclass_fields__)


def described(error: Exception, functions: frozenset[str] = frozenset()) -> str | None:
    """What is wrong and what to write; None for what is no mistake of a declaration.

    `functions` are those of the file.
    """
    text = str(error)
    if isinstance(error, TypeError) and (found := _INIT.search(text)):
        return _of_declaration(found[1], found[2])
    if isinstance(error, TypeError) and (found := _MISSING.fullmatch(text)):
        if found[1] in functions:
            return f"{found[1]} is called here; name it without brackets: {found[1]}"
        return None
    if isinstance(error, NameError) and error.name in _WRITTEN_WITH:
        return f"{error.name} is not imported; write from waterline import {error.name}"
    if isinstance(error, ImportError) and error.name == "waterline":
        wanted = text.split("'")[1]
        known = _WRITTEN_WITH
        return f"waterline has no {wanted}; " + did_you_mean_or(
            wanted, known, f"it has {', '.join(known)}"
        )
    return None


def _of_declaration(kind: str, what: str) -> str | None:
    unexpected = _UNEXPECTED.search(what)
    if kind == "Protocol" and unexpected:
        name = unexpected[1]
        known = f"it has {', '.join(_PROTOCOL)}"
        return f"a Protocol has no {name!r}; {did_you_mean_or(name, _PROTOCOL, known)}"
    if kind not in _USAGE:
        return None
    given = f"has no {unexpected[1]!r}" if unexpected else "has other arguments"
    return f"this {kind} {given}; {_USAGE[kind]}"
