"""Python's errors in a wrong declaration, in the words of declarations."""

from __future__ import annotations

import re

from waterline.model import own
from waterline.model.core.nearest import did_you_mean_or
from waterline.model.own import Protocol

_USAGE = {
    "Names": "Names takes what one is called and how many there are, as nodes = Names('node', 3)",
    "Epochs": "Epochs takes what one is called and the highest, as terms = Epochs('term', 3)",
    "Opaque": "Opaque takes what one is called and how many there are, as "
    "records = Opaque('record', 2)",
    "Epoch": "Epoch takes a sort of Epochs, as term = Epoch(terms, by=nodes)",
    "Flag": "Flag takes nothing but by=, as sent = Flag(by=nodes); it is False at first",
    "Number": "Number takes the least and the greatest number, as term = Number(0, terms)",
    "Choice": "Choice takes its words, as state = Choice('idle', 'busy')",
    "Name": "Name takes a sort, as leader = Name(nodes, or_none=True)",
    "Set": "Set takes what its members are of, as votes = Set(of=nodes)",
    "Queue": "Queue takes what its values are of and how many have room, as "
    "wire = Queue(of=('ask', 'yes'), room=2)",
    "Log": "Log takes what its values are of and how many have room, as log = Log(of=3, room=4)",
    "Lemma": "Lemma takes a function of a state and by=, as Lemma(differ, by=[were_taken])",
    "Action": "Action takes a function and what its arguments range over, as "
    "Action(send, source=state.nodes)",
}
_HIDING = frozenset({"hidden", "hide", "view"})
"""Names that users of TLC's VIEW may look for."""
_NO_VIEW = (
    "would take states that differ for one, and never see what follows only from the others; "
    "write ghost=True for a field that only claims read, and make bounds smaller for fewer states"
)
_IN_A_LIST = "; in a list of fields a name comes first"
_INIT = re.compile(r"(\w+)\.__init__\(\) (.+)")
_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'")
_MISSING = re.compile(r"(\w+)\(\) missing \d+ required positional arguments?: .+")
_WRITTEN_WITH = [name for name in own.__all__ if name != "BadProtocol"]
_PROTOCOL = tuple(Protocol.__dataclass_fields__)


def describe_declaration_error(
    error: Exception, functions: frozenset[str] = frozenset()
) -> str | None:
    """Return the error and its remedy; None if the error is not about a declaration.

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
    if unexpected and unexpected[1] in _HIDING and kind in {"Protocol", *_USAGE}:
        article = "a" if kind == "Protocol" else "this"
        return f"{article} {kind} has no {unexpected[1]!r}: that {_NO_VIEW}"
    if kind == "Protocol" and unexpected:
        name = unexpected[1]
        known = f"it has {', '.join(_PROTOCOL)}"
        return f"a Protocol has no {name!r}; {did_you_mean_or(name, _PROTOCOL, known)}"
    if kind not in _USAGE:
        return None
    given = f"has no {unexpected[1]!r}" if unexpected else "has other arguments"
    listed = "" if kind in ("Names", "Action", "Lemma") else _IN_A_LIST
    return f"this {kind} {given}; {_USAGE[kind]}{listed}"
