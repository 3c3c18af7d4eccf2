"""Interpreted state: fields as attributes.

`State` is a value: its words never change. An action's effect writes to a private `Draft` of it.
Both read as `state.leo[replica]`, exactly as the compiled form does, and both check every access: a
value outside its declared range, an index outside the shape, a row that is not alive.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self, TypeVar

from waterline.model.core.layout import Element, Index, Layout, Place

S = TypeVar("S", bound="State")


class OutOfRange(ValueError):
    """An action stored a value outside a field's range, or used an index outside its shape."""


class OutsideOfPlace(OutOfRange):
    """A value or an index out of range, with the place of the field.

    `value` is the stored value, None if the index of `place` does not fit.
    """

    def __init__(self, place: Place, index: Index, value: int | None = None) -> None:
        self.place = place
        self.indices = index if isinstance(index, tuple) else (index,)
        self.value = value
        super().__init__(_misfit(self))

    @property
    def misfit(self) -> int:
        """The position of the first index that is outside its extent."""
        pairs = zip(self.indices, self.place.shape, strict=False)
        return next((n for n, (index, extent) in enumerate(pairs) if not 0 <= index < extent), -1)


def _misfit(error: OutsideOfPlace) -> str:
    place, indices = error.place, error.indices
    if len(indices) != len(place.shape):
        return f"{place.name} has shape {place.shape}, index {indices} does not fit it"
    name = f"{place.name}[{', '.join(map(str, indices))}]" if indices else place.name
    if error.value is not None:
        return f"{name} cannot be {error.value}: its range is {place.lo}..{place.hi}"
    at = error.misfit
    which = f"index {indices[at]}" if len(indices) > 1 else "the index"
    return f"{name}: {which} is outside 0..{place.shape[at] - 1}"


class NotAlive(ValueError):
    """An action read or wrote a row of a field that has no meaning in this state."""


_Way = tuple[int, int, int, int, int, int, int, frozenset[int] | None]
"""Word, shift, mask and least value of an element; those of what decides; when it is alive."""


class _Rows:
    """The elements of one field of one state: `rows[i]` or `rows[i, j]`.

    Each field of a layout has a class of its own. An interpreted search does little else than make
    and read these, so both are written for speed: reading and writing repeat what `State._read` and
    `Draft._write` do.
    """

    __slots__ = ("_state",)

    _place: Place
    _ways: Mapping[Index, _Way]

    def __init__(self, state: State) -> None:
        self._state = state

    def __getitem__(self, index: Index) -> int:
        try:
            word, shift, mask, lo, deciding, at, kept, values = self._ways[index]
        except KeyError:
            raise OutsideOfPlace(self._place, index) from None
        words = self._state._words
        if values is not None and (value := words[deciding] >> at & kept) not in values:
            raise self._state._not_alive(self._place, index, value)
        return (words[word] >> shift & mask) + lo

    def __setitem__(self, index: Index, value: int) -> None:
        self._state._write(self._place, index, value)


class _DraftRows(_Rows):
    """Rows of a draft, which can be written."""

    __slots__ = ()

    def __setitem__(self, index: Index, value: int) -> None:
        place = self._place
        try:
            word, shift, mask, lo, deciding, at, kept, values = self._ways[index]
        except KeyError:
            raise OutsideOfPlace(place, index) from None
        words = self._state._words
        if values is not None and (alive := words[deciding] >> at & kept) not in values:
            raise self._state._not_alive(place, index, alive)
        if not lo <= value <= place.hi:
            raise OutsideOfPlace(place, index, int(value))
        words[word] = words[word] & ~(mask << shift) | (int(value) - lo) << shift


class State:
    """One immutable state. Fields read as attributes: `state.epoch`, `state.log[r, o]`.

    Each layout has a class of states of its own, with a property for each field: an interpreted
    search does little else than read them. A subclass takes the same arguments.
    """

    __slots__ = ("_words", "layout")

    layout: Layout
    _words: list[int]

    def __new__(cls, layout: Layout, words: tuple[int, ...] | None = None) -> Self:
        """An object of the class that the layout's states have."""
        own = layout.classes.get(cls)
        if own is None:
            own = layout.classes[cls] = _with_fields(cls, layout)
        return object.__new__(own)

    def __init__(self, layout: Layout, words: tuple[int, ...] | None = None) -> None:
        if words is not None and len(words) != layout.words:
            raise ValueError(f"a state has {layout.words} words here, not {len(words)}")
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "_words", list(words or (0,) * layout.words))

    @property
    def words(self) -> tuple[int, ...]:
        """The packed state: its identity, and its place in the lexicographic order of states."""
        return tuple(self._words)

    def __getattr__(self, name: str) -> Any:
        # What the layout has is found on the class.
        raise AttributeError(f"the state has no field {name!r}")

    def __setattr__(self, name: str, value: int) -> None:
        place = self.layout.places.get(name)
        if place is None or place.shape:
            raise AttributeError(f"the state has no number {name!r} to be set")
        self._write(place, (), value)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, State) and self._words == other._words and self.layout == other.layout
        )

    def __hash__(self) -> int:
        return hash(tuple(self._words))

    def __repr__(self) -> str:
        return f"State({', '.join(f'{name}={value}' for name, value in as_dict(self).items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (State, (self.layout, self.words))

    def draft(self) -> Draft:
        """A private copy that an effect may write to."""
        return _copy(Draft, self)

    def _read(self, place: Place, index: Index) -> int:
        word, shift, mask, lo, _, _ = self._element(place, index)
        return (self._words[word] >> shift & mask) + lo

    def _write(self, place: Place, index: Index, value: int) -> None:
        raise AttributeError(f"a state is a value: {place.name} cannot be set; write to a draft")

    def _element(self, place: Place, index: Index) -> Element:
        """Return the place of an element. Raises `OutOfRange`, or `NotAlive` in a dead row."""
        element = self.layout.elements[place.name].get(index)
        if element is None:
            raise OutsideOfPlace(place, index)
        decides = element.decides
        if decides is not None:
            value = self._words[decides.word] >> decides.shift & decides.mask
            if value not in element.values:
                raise self._not_alive(place, index, value)
        return element

    def _not_alive(self, place: Place, index: Index, value: int) -> NotAlive:
        assert place.alive is not None
        name = place.alive.field
        row = index[0] if isinstance(index, tuple) else index
        text = value + self.layout.places[name].lo
        return NotAlive(f"{place.name}[{row}] means nothing while {name} is {text}")


def _with_fields(kind: type[State], layout: Layout) -> type[State]:
    """The class of a layout's states, or drafts, with what they read by name."""
    read: dict[str, Any] = dict(layout.sizes)
    for name, elements in layout.elements.items():
        place = layout.places[name]
        read[name] = _rows(kind, place, elements) if place.shape else _number(elements[()])
    # What a state itself has is not hidden by a field of the same name.
    own = {name: value for name, value in read.items() if not hasattr(kind, name)}
    return type(kind.__name__, (kind,), {"__slots__": (), **own})


def _number(element: Element) -> property:
    word, shift, mask, lo, _, _ = element
    return property(lambda state: (state._words[word] >> shift & mask) + lo)


def _rows(kind: type[State], place: Place, elements: Mapping[Index, Element]) -> property:
    # A kind of draft of its own may do more as it is written.
    base = _DraftRows if kind is Draft else _Rows
    ways = {index: _way(element) for index, element in elements.items()}
    return property(type(base.__name__, (base,), {"__slots__": (), "_place": place, "_ways": ways}))


def _way(element: Element) -> _Way:
    """An element as a plain tuple, which unpacks faster."""
    word, shift, mask, lo, decides, values = element
    if decides is None:
        return word, shift, mask, lo, 0, 0, 0, None
    return word, shift, mask, lo, decides.word, decides.shift, decides.mask, values


def _copy(kind: type[S], state: State) -> S:
    """A state or draft with the words of another, which are right already."""
    layout = state.layout
    own = layout.classes.get(kind) or type(kind(layout))
    made: S = object.__new__(own)
    object.__setattr__(made, "layout", layout)
    object.__setattr__(made, "_words", state._words.copy())
    return made


class Draft(State):
    """A state under construction: the one thing that an effect may write to."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]  # it changes

    def __reduce__(self) -> tuple[Any, ...]:
        return (Draft, (self.layout, self.words))

    def _write(self, place: Place, index: Index, value: int) -> None:
        element = self._element(place, index)
        if not place.lo <= value <= place.hi:
            raise OutsideOfPlace(place, index, int(value))
        cleared = self._words[element.word] & ~(element.mask << element.shift)
        self._words[element.word] = cleared | (int(value) - place.lo) << element.shift

    def freeze(self) -> State:
        """The finished state."""
        return _copy(State, self)


def as_dict(state: State) -> dict[str, Any]:
    """Every field by name, nested lists for rows and tables, None for rows that are not alive."""
    words = state._words

    def cell(element: Element) -> int | None:
        decides = element.decides
        if decides is not None:
            value = words[decides.word] >> decides.shift & decides.mask
            if value not in element.values:
                return None
        return (words[element.word] >> element.shift & element.mask) + element.lo

    values: dict[str, Any] = {}
    for declared in state.layout.fields:
        elements = state.layout.elements[declared.name]
        if not declared.shape:
            values[declared.name] = cell(elements[()])
        elif len(declared.shape) == 1:
            values[declared.name] = [cell(elements[i]) for i in range(declared.shape[0])]
        else:
            rows, columns = declared.shape
            values[declared.name] = [
                [cell(elements[i, j]) for j in range(columns)] for i in range(rows)
            ]
    return values


def plain_order(member: Any) -> tuple[int, str]:
    """Place of a set's member in a corpus: numbers from the least one, others by their text.

    The member is plain data. A corpus is written and read in this order.
    """
    return member if isinstance(member, int) else 0, json.dumps(member)


def as_json(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """Return data of a field as JSON has it: a row is a list, another function an object.

    A tuple is an option: what it holds, or null.
    """
    match value:
        case Mapping() if list(value) == list(range(len(value))):
            return [as_json(each) for each in value.values()]
        case Mapping():
            return {str(key): as_json(each) for key, each in value.items()}
        case frozenset():
            return sorted(map(as_json, value), key=plain_order)
        case list():
            return [as_json(each) for each in value]
        case tuple() if hasattr(value, "_asdict"):
            return {name: as_json(part) for name, part in value._asdict().items()}
        case tuple():
            return as_json(value[0]) if value else None
    return value
