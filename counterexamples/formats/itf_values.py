"""Values in ITF, of whichever tool, as text that a person compares.

Apalache's ADR-015 defines them: whole numbers as such or `{"#bigint": "3"}`, texts, truth values,
sequences `[...]`, tuples `{"#tup": [...]}`, sets `{"#set": [...]}`, functions `{"#map": [[argument,
value], ...]}`, records as other objects, and `{"#unserializable": "..."}` for what a tool could not
write. A variant is a record of `tag` and `value`. A set is the same in any order of its members, a
function in any order of its pairs: the text is in order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from waterline.counterexamples.trace import BadTrace, show

DIGITS_MAX = 1_000
UNIT = ('"U_OF_UNIT"', "()")
"""Values of a variant without content, in Apalache and Quint."""
_MARK = "#"
_Order = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class ItfValue:
    """A value as text.

    `entries` are, of a function or a record, its arguments or fields and what each holds, else
    None. `is_record`: they are fields. `tag` is that of a variant, `held` what it holds, None of
    one that holds nothing.
    """

    text: str
    order: _Order
    entries: tuple[tuple[str, ItfValue], ...] | None = None
    is_record: bool = False
    tag: str = ""
    held: ItfValue | None = None


def read_value(where: str, value: object) -> ItfValue:
    """The value at a path of a text. Raises `BadTrace`."""
    match value:
        case bool():
            return _plain("true" if value else "false")
        case int():
            return _number(value)
        case str():
            return _plain(json.dumps(value))
        case list():
            return _plain(f"[{_join(_all(where, value))}]")
        case dict():
            marks = [key for key in value if key.startswith(_MARK)]
            return _special(where, marks, value) if marks else _record(where, value)
    raise BadTrace(f"{where} is {show(value)}, which ITF has no such value for")


def _special(where: str, marks: list[str], found: dict[str, object]) -> ItfValue:
    if len(found) > 1:
        raise BadTrace(f"{where} has {show([*found])}; {marks[0]} must be alone in its object")
    [(mark, inner)] = found.items()
    where = f"{where}.{mark}"
    match mark:
        case "#bigint":
            return _number(_digits(where, inner))
        case "#tup":
            return _plain(f"({_join(_all(where, _list(where, inner)))})")
        case "#set":
            members = {each.text: each for each in _all(where, _list(where, inner))}
            return _plain(f"{{{_join(_in_order([*members.values()]))}}}")
        case "#map":
            return _function(where, _list(where, inner))
        case "#unserializable":
            return _plain(f"<{json.dumps(inner)} could not be written>")
    raise BadTrace(f"{where} is unknown; ITF has #bigint, #tup, #set, #map and #unserializable")


def _record(where: str, found: dict[str, object]) -> ItfValue:
    fields = tuple((_name(key), read_value(f"{where}.{_name(key)}", found[key])) for key in found)
    tag = found.get("tag")
    if set(found) == {"tag", "value"} and isinstance(tag, str):
        held = dict(fields)["value"]
        if held.text in UNIT:
            return ItfValue(_name(tag), (1, 0, tag), tag=tag)
        text = f"{_name(tag)}({held.text})"
        return ItfValue(text, (1, 0, text), tag=tag, held=held)
    fields = tuple(sorted(fields, key=lambda field: field[0]))
    text = f"({', '.join(f'{name}: {value.text}' for name, value in fields)})"
    return ItfValue(text, (1, 0, text), fields, is_record=True)


def _function(where: str, pairs: list[object]) -> ItfValue:
    found: dict[str, tuple[ItfValue, ItfValue]] = {}
    for index, pair in enumerate(pairs):
        at = f"{where}[{index}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise BadTrace(f"{at} is {show(pair)}; it must be an argument and its value")
        argument, value = _all(at, pair)
        if argument.text in found:
            raise BadTrace(f"{at} is {show(pair)}; the argument has a value already")
        found[argument.text] = argument, value
    ordered = sorted(found.values(), key=lambda each: each[0].order)
    text = ", ".join(f"{argument.text} -> {value.text}" for argument, value in ordered)
    entries = tuple((argument.text, value) for argument, value in ordered)
    return ItfValue(f"{{{text}}}", (1, 0, text), entries)


def _all(where: str, values: list[object]) -> list[ItfValue]:
    return [read_value(f"{where}[{index}]", value) for index, value in enumerate(values)]


def _list(where: str, found: object) -> list[object]:
    if not isinstance(found, list):
        raise BadTrace(f"{where} is {show(found)}; it must be a list")
    return found


def _digits(where: str, found: object) -> int:
    if isinstance(found, str) and len(found) <= DIGITS_MAX:
        digits = found.removeprefix("-")
        if digits.isascii() and digits.isdecimal():
            return int(found)
    raise BadTrace(
        f"{where} is {show(found)}; it must be a whole number of at most {DIGITS_MAX:,} digits, "
        "as text"
    )


def _number(value: int) -> ItfValue:
    return ItfValue(str(value), (0, value, ""))


def _plain(text: str) -> ItfValue:
    return ItfValue(text, (1, 0, text))


def _in_order(values: list[ItfValue]) -> list[ItfValue]:
    return sorted(values, key=lambda value: value.order)


def _join(values: list[ItfValue]) -> str:
    return ", ".join(value.text for value in values)


def _name(text: str) -> str:
    """Return a name as it is, unless a terminal could misread or obey it."""
    return text if text.isascii() and text.isprintable() else json.dumps(text)
