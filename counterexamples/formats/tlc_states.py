r"""Traces that TLC wrote, as text and as `-dumpTrace json`, in the words of ITF.

The text has a conjunct for each variable, with a value in the syntax of TLA+. What ITF has no value
for, as a model value, is a variant that holds nothing. A step is named by the action.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from waterline.counterexamples.formats.itf_values import UNIT
from waterline.counterexamples.json_text import DEPTH_MAX
from waterline.counterexamples.trace import BadTrace, show

_STATE = re.compile(r"(?:State )?(\d+): (<.*>|Stuttering)\s*")
_BACK = re.compile(r"(?:Back to state (\d+)|(\d+): Back to state)(?::.*)?")
_ERROR = re.compile(r"Error: (?!The (?:following )?behavior)(.+)")
_PLACE = re.compile(r" line \d+, col \d+ to line \d+, col \d+ of module \w+$")
_CONJUNCT = re.compile(r"(?:/\\ )?([A-Za-z_]\w*) = ", re.ASCII)
_TOKEN = re.compile(
    r'\s*(?:(-?\d+)|("(?:[^"\\]|\\.)*")|(<<|>>|\|->|:>|@@|\.\.|[][(){},])|([A-Za-z_]\w*))', re.ASCII
)
_INTERVAL_MAX = 10_000
TAKEN = "action_taken"
"""The variable that ITF keeps the step in: see `itf_states`."""


def is_tlc_text(text: str) -> bool:
    """True if it is what TLC prints of a counterexample."""
    return any(_STATE.fullmatch(line) for line in text.splitlines())


def is_tlc_json(document: object) -> bool:
    """True if it is what TLC writes with `-dumpTrace json`."""
    found = document.get("counterexample", document) if isinstance(document, dict) else None
    return isinstance(found, dict) and {"state", "action"} <= set(found)


def of_text(text: str) -> dict[str, Any]:
    """The first counterexample of an output, as ITF has it. Raises `BadTrace`."""
    states: list[dict[str, Any]] = []
    described = {"source": "TLC"}
    body: list[str] = []
    loop, first = None, 1

    def end() -> None:
        if states:
            where = f"state {len(states)}"
            states[-1] |= dict(_conjuncts(where, body))
        body.clear()

    for line in text.splitlines():
        if line.startswith("@!@!@"):
            continue
        if (said := _ERROR.fullmatch(line)) and not states:
            described["description"] = said[1]
        elif back := _BACK.fullmatch(line):
            loop = int(back[1] or back[2]) - first
            break
        elif begun := _STATE.fullmatch(line):
            end()
            if states and int(begun[1]) != first + len(states):
                break  # Another trace.
            if begun[2] == "Stuttering":
                loop = len(states) - 1
                break
            first = first if states else int(begun[1])
            states.append({TAKEN: _action_name(begun[2].strip("<>"))})
        elif states and (line.startswith("/\\ ") or body or _CONJUNCT.match(line)):
            if line.strip():
                body.append(line)
            else:
                end()
    if body:
        end()
    return _document(states, loop, described)


def of_json(document: Any) -> dict[str, Any]:
    """Read the states of a `-dumpTrace json`. Raises `BadTrace`."""
    found = document.get("counterexample", document)
    numbered = [_numbered_state("state", each) for each in _list("state", found["state"])]
    steps = [_step(each) for each in _list("action", found["action"])]
    led = {to: action for _, action, to in steps}
    last = numbered[-1][0] if numbered else 0
    back = [to for origin, _, to in steps if origin == last and to <= last]
    if back:
        led = {to: action for origin, action, to in steps if origin < to}
    states = [{**values, TAKEN: led.get(number, "")} for number, values in numbered]
    return _document(states, back[0] - numbered[0][0] if back else None, {"source": "TLC"})


def _document(
    states: list[dict[str, Any]], loop: int | None, described: Mapping[str, str]
) -> dict[str, Any]:
    names = dict.fromkeys(name for state in states for name in state)
    return {"#meta": dict(described), "vars": [*names], "states": states, "loop": loop}


def _action_name(text: str) -> str:
    """`Inc(1)` of `Inc(1) line 12, col 8 to line 14, col 30 of module M`."""
    return "" if text == "Initial predicate" else _PLACE.sub("", text)


def _list(where: str, found: object) -> list[Any]:
    if not isinstance(found, list):
        raise BadTrace(f"{where} is {show(found)}; it must be a list")
    return found


def _numbered_state(where: str, found: object) -> tuple[int, dict[str, Any]]:
    match found:
        case [int(number), dict(values)]:
            return number, values
    raise BadTrace(f"{where} has {show(found)}; it must have pairs of a number and a state")


def _step(found: object) -> tuple[int, str, int]:
    """The numbers of the states before and after, and the action with what its parameters are."""
    match found:
        case [before, {"name": str(name), **rest}, after]:
            context = rest.get("context", {})
            names = rest.get("parameters", [])
            if isinstance(context, dict) and isinstance(names, list):
                given = [f"{n}: {json.dumps(context[n])}" for n in names if n in context]
                called = f"{name}({', '.join(given)})" if given else _action_name(name)
                return (
                    _numbered_state("action", before)[0],
                    called,
                    _numbered_state("action", after)[0],
                )
    raise BadTrace(f"action has {show(found)}; it must have a state, an action and a state")


# --- values of TLA+ ------------------------------------------------------------------------------


def _conjuncts(where: str, lines: list[str]) -> Iterator[tuple[str, Any]]:
    """Each variable and its value."""
    texts: list[tuple[str, list[str]]] = []
    for line in lines:
        begun = _CONJUNCT.match(line)
        if begun is not None and (line.startswith("/\\") or not texts):
            texts.append((begun[1], [line[begun.end() :]]))
        elif texts:
            texts[-1][1].append(line)
        else:
            raise BadTrace(f"{where} has {show(line)}; it must begin with a variable, as x = 1")
    for name, parts in texts:
        yield name, _Reader(f"{where}.{name}", "\n".join(parts)).whole()


@dataclass(slots=True)
class _Reader:
    """Reads one value of TLA+, from its beginning."""

    where: str
    text: str
    at: int = 0
    depth: int = 0

    def whole(self) -> Any:
        """Parse the value; refuse text after it."""
        found = self._value()
        if self.text[self.at :].strip():
            raise self._refuse()
        return found

    def _refuse(self) -> BadTrace:
        rest = self.text[self.at :].strip() or "nothing"
        return BadTrace(f"{self.where} has {show(rest)} where TLC writes a value, or what ends it")

    def _next(self) -> tuple[str, str]:
        """Return the next token and its kind, without consuming it."""
        found = _TOKEN.match(self.text, self.at)
        if found is None or found.lastindex is None:
            return "", ""
        return ("number", "text", "sign", "name")[found.lastindex - 1], found[found.lastindex]

    def _take(self, sign: str = "") -> str:
        _, text = self._next()
        if not text or (sign and text != sign):
            raise self._refuse()
        found = _TOKEN.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return text

    def _is(self, *signs: str) -> bool:
        return self._next()[1] in signs

    def _value(self) -> Any:
        if self.depth >= DEPTH_MAX:
            raise BadTrace(f"{self.where} is nested too deeply; a value has {DEPTH_MAX} levels")
        self.depth += 1
        found = self._one()
        self.depth -= 1
        return found

    def _one(self) -> Any:  # noqa: PLR0911 - one for each kind
        kind, text = self._next()
        if kind == "number":
            return self._number()
        if kind == "text":
            return _unescape(self._take())
        if kind == "name":
            name = self._take()
            truth = {"TRUE": True, "FALSE": False}.get(name)
            return truth if truth is not None else {"tag": name, "value": json.loads(UNIT[0])}
        match text:
            case "<<":
                return self._several("<<", ">>")
            case "{":
                return {"#set": self._several("{", "}")}
            case "[":
                return self._record()
            case "(":
                return self._function()
        raise self._refuse()

    def _number(self) -> Any:
        first = self._take()
        if not self._is(".."):
            return {"#bigint": first}
        self._take("..")
        kind, last = self._next()
        if kind != "number" or len(first) + len(last) > 20:
            raise self._refuse()
        self._take()
        if int(last) - int(first) > _INTERVAL_MAX:
            return {"#unserializable": f"{first}..{last}"}
        return {"#set": list(range(int(first), int(last) + 1))}

    def _several(self, begin: str, end: str) -> list[Any]:
        self._take(begin)
        found = []
        while not self._is(end):
            found.append(self._value())
            if not self._is(end):
                self._take(",")
        self._take(end)
        return found

    def _record(self) -> Any:
        self._take("[")
        found: dict[str, Any] = {}
        while not self._is("]"):
            if self._next()[0] != "name":
                raise self._refuse()
            name = self._take()
            self._take("|->")
            found[name] = self._value()
            if not self._is("]"):
                self._take(",")
        self._take("]")
        return found

    def _function(self) -> Any:
        self._take("(")
        pairs: list[list[Any]] = []
        while True:
            argument = self._value()
            if not pairs and self._is(")"):
                self._take(")")
                return argument
            self._take(":>")
            pairs.append([argument, self._value()])
            if self._is(")"):
                self._take(")")
                return {"#map": pairs}
            self._take("@@")


def _unescape(text: str) -> str:
    escapes = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
    return re.sub(r"\\(.)", lambda found: escapes.get(found[1], found[1]), text[1:-1])
