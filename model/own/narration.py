"""Sentences and tables of a user model, from its docstrings.

A step is described by its action's docstring, where `{rm}` is the argument of that name, and by its
changes. A state is a table with a row for each name, and a list of what belongs to no name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from waterline.model.core.state import OutsideOfPlace, State
from waterline.model.core.transition_system import Arguments, Model, Narration
from waterline.model.own.asking import first_paragraph
from waterline.model.own.data_sorts import argument_of
from waterline.model.own.declared import Action, Protocol
from waterline.model.own.fields import (
    NONE,
    AnyField,
    Bag,
    Container,
    Flag,
    Name,
    Names,
    PlacedField,
    PlainField,
    Queue,
    SequenceField,
    extent,
)

NOTHING = "-"


def narration(
    protocol: Protocol, actions: Sequence[Callable[..., Any] | Action] | None = None
) -> Narration:
    """The words for a protocol, and for its actions or these. Raises `BadProtocol`."""
    fields, sorts = tuple(protocol.fields), protocol.sorts
    described = {}
    for each in protocol.actions if actions is None else actions:
        function = each.function if isinstance(each, Action) else each
        given = tuple((n, argument_of(n, over)) for n, over in protocol.takes(each).items())
        described[function.__name__] = first_paragraph(function.__doc__ or ""), given
    words = _Words(fields, sorts, described)
    return Narration(
        sentence=words.sentence,
        rows=words.rows,
        summary=words.summary,
        whole=words.whole,
        elements=True,
        lanes=tuple(sort.describe(i) for sort in sorts for i in range(sort.count)),
        actors=words.actors,
        channels=words.channels,
        typed=words.type_out,
        values=words.values,
        arguments=words.arguments,
        call=words.call,
        out_of_range=partial(describe_misfit, fields),
    )


@dataclass(frozen=True, slots=True)
class _Words:
    fields: tuple[AnyField, ...]
    sorts: tuple[Names, ...]
    description: Mapping[str, tuple[str, Sequence[tuple[str, PlainField]]]]
    """Words for each action, and its arguments, each with a field that holds one."""

    def sentence(self, action: str, arguments: Arguments, before: State, after: State) -> str:
        """The action's own words with its arguments, then each element that has another value."""
        words, given = self.description[action][0], self._arguments(action, arguments)
        words = _BLANK.sub(lambda blank: given.get(blank[1], blank[0]), words).rstrip(".:")
        changed = "; ".join(self._changes(before, after)) or "nothing changes"
        return f"{words}: {changed}." if words else f"{changed}."

    def call(self, action: str, arguments: Arguments, model: Model) -> str:
        """`grant(client=client0)`"""
        given = self._arguments(action, arguments)
        return f"{action}({', '.join(f'{name}={value}' for name, value in given.items())})"

    def actors(self, action: str, arguments: Arguments) -> list[str]:
        """The names among the arguments: the one that the words begin with, then in their order."""
        words, described = self.description[action]
        named = {
            name: field.of.describe(value)
            for (name, field), value in zip(described, arguments, strict=True)
            if isinstance(field, Name)
        }
        if (first := _BLANK.match(words)) and first[1] in named:
            named = {first[1]: named[first[1]], **named}
        return list(named.values())

    def channels(self, state: State) -> dict[str, tuple[list[str], list[str]]]:
        """Each queue and bag by its name: the names that it is between, and what is in it."""
        found = {}
        for field in (each for each in self.fields if isinstance(each, Queue | Bag)):
            for where, index in _elements(field):
                held = element(state, field, index)
                assert isinstance(held, tuple)
                ends = zip(field.indices, index, strict=True)
                names = [sort.describe(n) for sort, n in ends if isinstance(sort, Names)]
                values = [field.element.describe(each) for each in held]
                found[f"{field.name}{where}"] = (names, values)
        return found

    def type_out(self, state: State) -> dict[str, str]:
        """Each field with its values as a file has them: `['idle', 'busy']`, `client0`, `None`."""
        return {field.name: _type_elements(state, field) for field in self.fields}

    def values(self, state: State) -> dict[str, Any]:
        """Each field as data, indexed ones as dictionaries from numbers."""
        return {field.name: _data_elements(state, field) for field in self.fields}

    def arguments(self, action: str, arguments: Arguments) -> dict[str, Any]:
        """Each argument by name as data."""
        return {
            name: field.data(value + field.range[0])
            for (name, field), value in zip(self.description[action][1], arguments, strict=True)
        }

    def _arguments(self, action: str, arguments: Arguments) -> dict[str, str]:
        """Each argument by name, as a person reads it."""
        return {
            name: field.describe(value + field.range[0])
            for (name, field), value in zip(self.description[action][1], arguments, strict=True)
        }

    def rows(self, state: State) -> list[list[str]]:
        """A row for each name; a column for each field that has an element for it."""
        columns = [f for f in self.fields if f.indices and isinstance(f.indices[0], Names)]
        shown = [sort for sort in self.sorts if any(f.indices[0] == sort for f in columns)]
        table = [["", *(field.name for field in columns)]]
        for sort in shown:
            for number in range(sort.count):
                cells = [
                    _row(state, field, number) if field.indices[0] == sort else NOTHING
                    for field in columns
                ]
                table.append([sort.describe(number), *cells])
        return table

    def summary(self, state: State) -> list[tuple[str, str]]:
        """Return the fields without a row."""
        found = []
        for field in self.fields:
            if not field.indices:
                found.append((field.name, field.describe(element(state, field, ()))))
            elif not isinstance(field.indices[0], Names):
                first = field.indices[0]
                assert isinstance(first, int)
                whole = _separator(field).join(_row(state, field, n) for n in range(first))
                found.append((field.name, whole))
        return found

    def whole(self, state: State) -> str:
        """`state[rm0] idle, state[rm1] working, holder rm1`"""
        return ", ".join(
            f"{field.name}{where} {field.describe(element(state, field, index))}"
            for field in self.fields
            for where, index in _elements(field)
        )

    def _changes(self, before: State, after: State) -> Iterator[str]:
        for field in self.fields:
            if field.ghost:
                continue
            for where, index in _elements(field):
                was, now = element(before, field, index), element(after, field, index)
                if was == now:
                    continue
                yield f"{field.name}{where} {field.describe_change(was, now)}"


def describe_misfit(  # noqa: PLR0911 - one for each kind
    fields: Sequence[AnyField], error: OutsideOfPlace
) -> str:
    """Describe a value that does not fit, in the words of the file, with the remedy.

    `s.token[client0] cannot be 3: it holds 0 to 2; declare a wider range, or guard the step`
    """
    field = next((each for each in fields if each.name == error.place.name), None)
    if field is None:
        return str(error)
    if len(field.extents) > 2 and error.value is None and error.misfit == 0:
        return f"there is no such element of s.{field.name}; ask first how large each index is"
    if isinstance(field, SequenceField):
        return _sequence_misfit(field, error)
    if isinstance(field, PlacedField) and len(error.indices) == len(field.extents[-2:]):
        return _place_misfit(field, error)
    if len(error.indices) != len(field.indices):
        return str(error)
    written = ", ".join(_write_index(field, n, value) for n, value in enumerate(error.indices))
    element = f"s.{field.name}[{written}]" if written else f"s.{field.name}"
    if error.value is not None:
        return (
            f"{element} cannot be {error.value}: it holds {field.domain}; "
            "declare a wider range, or guard the step"
        )
    return _index_misfit(field, element, error)


def _index_misfit(field: AnyField, element: str, error: OutsideOfPlace) -> str:
    """Describe the index that does not fit, and the remedy."""
    at = error.misfit
    which = f"index {at + 1}" if len(field.indices) > 1 else "the index"
    extents = field.indices[at]
    if isinstance(extents, Names):
        is_none = error.indices[at] == NONE
        remedy = (
            "ask first whether the name is None" if is_none else f"loop over s.{extents.plural}"
        )
        first, last = extents.describe(0), extents.describe(extents.count - 1)
        return f"there is no {element}: {which} goes from {first} to {last}; {remedy}"
    return f"there is no {element}: {which} goes from 0 to {extents - 1}; ask first how large it is"


def _place_misfit(field: PlacedField, error: OutsideOfPlace) -> str:
    """Describe a place that is missing, or the number that one cannot have."""
    element = _element_of(field, error)
    if error.value is not None:
        lo, hi = field.range
        return f"{element} cannot count {error.value}: it counts from {lo} to {hi} of each"
    if error.misfit < len(error.indices) - 1:
        return _index_misfit(field, element, error)
    return f"{element} has no place {error.indices[-1]}: it is of {field.element.domain}"


def _element_of(field: PlacedField, error: OutsideOfPlace) -> str:
    """`s.wire[node0, 1]`, the element that an error is about."""
    indices = [error.indices[0]]
    if len(field.extents) > 2:
        for count in reversed(field.extents[1:-1]):
            indices[:1] = divmod(indices[0], count)
    named = [
        _write_index(field, n, number) for n, number in enumerate(indices[: len(field.indices)])
    ]
    return f"s.{field.name}[{', '.join(named)}]" if named else f"s.{field.name}"


def _sequence_misfit(field: SequenceField, error: OutsideOfPlace) -> str:
    """Describe a misfit in a queue or a log: an empty place, or an invalid value."""
    element = _element_of(field, error)
    held = f"it holds at most {field.room} values, each {field.element.domain}"
    if error.value is not None:
        return f"{element} cannot hold {error.value}: {held}"
    if field.is_sorted:
        return f"{element} does not hold that, or cannot: {held}; ask first whether it is in it"
    operation, known = _operation(error)
    letters = ", ".join("abcdefgh"[: len(field.indices)])
    written = f"s.{field.name}[{letters}]" if letters else f"s.{field.name}"
    if operation == "receive" or (operation in ("at", "put") and known.get("n") == 0):
        return f"{element} is empty: write when({written}) first"
    if operation in ("truncate", "same", "copy"):
        return f"a beginning of {element} cannot have {known.get('n')} values; ask first"
    if operation in ("at", "put") and known.get("x") != field.empty:
        held = "1 value" if known.get("n") == 1 else f"{known.get('n')} values"
        return f"{element} has {held}, and no such place; ask first how long it is"
    return f"{element} cannot hold that: {held}"


def _operation(error: OutsideOfPlace) -> tuple[str, Mapping[str, Any]]:
    """Return the failed operation on a queue or a log, with its variables; see `sequences`."""
    found: tuple[str, Mapping[str, Any]] = "", {}
    at = error.__traceback__
    while at is not None:
        if (named := _OPERATION.match(at.tb_frame.f_code.co_name)) is not None:
            found = named[1], at.tb_frame.f_locals
        at = at.tb_next
    return found


def _write_index(field: AnyField, position: int, number: int) -> str:
    """An index of an error, which may be none of those that there are."""
    index = field.indices[position]
    if not isinstance(index, Names):
        return str(number)
    if number == NONE:
        return "None"
    return index.describe(number) if 0 <= number < index.count else str(number)


_OPERATION = re.compile(r"__(at|put|add|receive|truncate|same|copy)_")
_BLANK = re.compile(r"\{(\w+)\}")


def _data_elements(state: State, field: AnyField, index: tuple[int, ...] = ()) -> Any:
    if len(index) == len(field.indices):
        return field.data(element(state, field, index))
    count = extent(field.indices[len(index)])
    return {i: _data_elements(state, field, (*index, i)) for i in range(count)}


def _type_elements(state: State, field: AnyField, index: tuple[int, ...] = ()) -> str:
    if len(index) < len(field.indices):
        parts = (
            _type_elements(state, field, (*index, i))
            for i in range(extent(field.indices[len(index)]))
        )
        return f"[{', '.join(parts)}]"
    return field.type_out(element(state, field, index))


def _elements(field: AnyField) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Each element, as `[rm1]` and as an index."""
    if not field.indices:
        yield "", ()
        return
    for index in itertools.product(*(range(extent(each)) for each in field.indices)):
        named = (_write_index(field, position, number) for position, number in enumerate(index))
        yield f"[{', '.join(named)}]", index


def element(state: State, field: AnyField, index: tuple[int, ...]) -> Any:
    """The value of an element, by the indices that the field was declared with."""
    if not isinstance(field, PlacedField):
        return _number(state, field, index)
    return field.content(_number(state, field, (*index, place)) for place in range(field.slots))


def _number(state: State, field: AnyField, index: tuple[int, ...]) -> int:
    kept = getattr(state, field.name)
    if not index:
        return int(kept)
    # All but the last are one in a layout, where there are more than two.
    first = index[0]
    for each, count in zip(index[1:-1], field.extents[1:-1], strict=True):
        first = first * count + each
    return int(kept[first] if len(index) == 1 else kept[first, index[-1]])


def _row(state: State, field: AnyField, number: int) -> str:
    """Describe one row of a field: a value, or all of them, or the names that are flagged."""
    if len(field.indices) == 1:
        return field.describe(element(state, field, (number,)))
    others = [range(extent(index)) for index in field.indices[1:]]
    values = [(rest, element(state, field, (number, *rest))) for rest in itertools.product(*others)]
    second = field.indices[1]
    if isinstance(field, Flag) and isinstance(second, Names) and len(others) == 1:
        inside = (second.describe(column) for (column,), value in values if value)
        return "{" + ", ".join(inside) + "}"
    return _separator(field).join(field.describe(value) for _, value in values)


def _separator(field: AnyField) -> str:
    """Separator of values: some kinds contain blanks."""
    return " | " if isinstance(field, Container) else " "
