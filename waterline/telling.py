"""States and steps in words: the sentences of the command line's reports, of plain values.

A state is given by its model and its values: of each field those of all elements, in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from waterline.model.core.state import State as Packed
from waterline.model.core.transition_system import Narration
from waterline.model.own import Action
from waterline.model.own.fields import AnyField, PlacedField
from waterline.model.own.narration import narration
from waterline.models import Model, Runnable, number_of
from waterline.shape import element_name

Values = Mapping[str, Sequence[Any]]


def whole(model: Model, values: Values) -> str:
    """`holder none, token[client0] 0, token[client1] 2`"""
    return _words(model, id(model.protocol)).whole(number_state(model, values))


def rows(model: Model, values: Values) -> list[list[str]]:
    """A row for each name, below a header."""
    return _words(model, id(model.protocol)).rows(number_state(model, values))


def summary(model: Model, values: Values) -> list[tuple[str, str]]:
    """Return the facts that belong to no name, with their labels."""
    return _words(model, id(model.protocol)).summary(number_state(model, values))


def sentence(
    model: Model, action: str, arguments: Mapping[str, Any], before: Values, after: Values
) -> str:
    """The docstring of the action with its arguments, then what changed."""
    (known,) = (each for each in model.actions if each.name == action)
    numbers = tuple(number_of(over, arguments[name]) for name, over in known.over)
    return _words(model, id(model.protocol)).sentence(
        action, numbers, number_state(model, before), number_state(model, after)
    )


def call(model: Model, action: Runnable, arguments: Sequence[Any]) -> str:
    """`write(client=client1)`"""
    pairs = zip(action.over, arguments, strict=True)
    numbers = tuple(number_of(over, each) for (_, over), each in pairs)
    words = narration(model.protocol, [Action(action.function, **dict(action.over))])
    return words.call(action.name, numbers, cast("Any", model))


def elements(model: Model, values: Values) -> Iterator[tuple[str, str]]:
    """Each element and its value in words: `token[client1]`, `2`."""
    for name, declared in model.shape.fields.items():
        for index, value in zip(model.shape.places[name], values[name], strict=True):
            yield element_name(declared, index), describe(declared, value)


def describe(declared: AnyField, value: Any) -> str:
    """A value as a person reads it: `client1`, `none`, `yes`."""
    return declared.describe(declared.encode(value))


@lru_cache(maxsize=64)
def _words(model: Model, protocol: int) -> Narration:
    """Models are equal by function and bounds: what the function has returned counts here too."""
    return narration(model.protocol)


@dataclass(frozen=True, slots=True)
class _Numbered:
    """Plain values as the narration reads a packed state: by numbers."""

    numbers: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        return self.numbers[name]


def number_state(model: Model, values: Values) -> Packed:
    """The numbers of a state, by field and index, as a layout has them (`narration.element`)."""
    found: dict[str, Any] = {}
    for name, declared in model.shape.fields.items():
        kept: dict[Any, int] = {}
        for index, value in zip(model.shape.places[name], values[name], strict=True):
            number: Any = declared.encode(value)
            if isinstance(declared, PlacedField):
                places = enumerate(declared.places(number))
                kept |= {_fold(declared, (*index, place)): each for place, each in places}
            else:
                kept[_fold(declared, index)] = number
        found[name] = kept if declared.extents else kept[()]
    return cast("Packed", _Numbered(found))


def _fold(declared: AnyField, index: tuple[int, ...]) -> Any:
    """The index that a layout has: all but the last are one, where there are more than two."""
    if len(index) < 2:
        return index[0] if index else ()
    first = index[0]
    for each, count in zip(index[1:-1], declared.extents[1:-1], strict=True):
        first = first * count + each
    return first, index[-1]
