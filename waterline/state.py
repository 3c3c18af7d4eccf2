"""States as plain Python sees them: fields with the values that rules are written with.

A `State` is a value and never changes. A `Draft` is a copy that a rule may write to. Both read as a
rule reads them: `s.holder is None`, `s.token[client] > 0`, `for c in s.clients`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from waterline.model.core.state import State as Packed
from waterline.model.own.fields import AnyField
from waterline.model.own.narration import element
from waterline.models import Model
from waterline.shape import (
    Index,
    Shape,
    describe_elements,
    describe_unknown,
    element_name,
    extents_of,
    in_rows,
    nest,
)
from waterline.tables import cell, table
from waterline.telling import rows, summary, whole


class State:
    """One state of a model: a value, with the fields as attributes.

    States are equal if they have the same fields, bounds and values. `waterline.initial` makes the
    first one, `waterline.step` the next, `waterline.replace` one with other values.
    """

    __slots__ = ("_model", "_values")

    _model: Model
    _values: Mapping[str, Sequence[Any]]

    def __init__(self, model: Model, values: Mapping[str, Sequence[Any]]) -> None:
        object.__setattr__(self, "_model", model)
        object.__setattr__(self, "_values", {name: tuple(each) for name, each in values.items()})

    @property
    def _shape(self) -> Shape:
        return self._model.shape

    @property
    def _bounds(self) -> Mapping[str, int]:
        return self._shape.bounds

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # no field is called so: what copies and draws objects asks
            raise AttributeError(name)
        shape = self._shape
        declared = shape.fields.get(name)
        if declared is not None:
            return Elements(self, declared) if declared.indices else self._read(declared, 0, ())
        if name in shape.sizes:
            return shape.sizes[name]
        raise AttributeError(describe_unknown(name, shape))

    def _read(self, declared: AnyField, place: int, index: Index) -> Any:
        value = self._values[declared.name][place]

        def write(value: object) -> None:
            self._write(declared, place, index, value)

        return declared.view(value, element_name(declared, index), write)

    def _write(self, declared: AnyField, place: int, index: Index, value: object) -> None:
        self.__setattr__(declared.name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(
            f"a state is a value: {name} cannot be set; waterline.replace(state, {name}=...) makes "
            "another state, waterline.copy(state) a copy to write to"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        if self._model is not other._model and self._shape != other._shape:
            return False
        pairs = zip(self._values.values(), other._values.values(), strict=True)
        return all(tuple(mine) == tuple(others) for mine, others in pairs)

    def __hash__(self) -> int:
        return hash(tuple(self._values.values()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._model, self._values)

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self._shape.fields, *self._shape.sizes]

    def __repr__(self) -> str:
        fields = self._shape.fields.values()
        values = (f"{field.name}={self._show(field)}" for field in fields)
        return f"{type(self).__name__}({', '.join(values)})"

    def _show(self, declared: AnyField) -> str:
        values = [declared.show(value) for value in self._values[declared.name]]
        return in_rows(values, extents_of(declared)) if declared.indices else values[0]

    def __str__(self) -> str:
        return whole(self._model, self._values)

    def _repr_html_(self) -> str:
        header, *body = rows(self._model, self._values)
        parts = [table(header, (map(cell, row) for row in body))] if len(header) > 1 else []
        if alone := summary(self._model, self._values):
            parts.append(table([name for name, _ in alone], [[cell(value) for _, value in alone]]))
        return "".join(parts)


class Draft(State):
    """A copy of a state that a rule may write to: `waterline.copy(state)` makes one.

    Every value that is written is checked: one outside the field's range raises `OutOfRange`.
    """

    __slots__ = ("_was_written",)

    _values: dict[str, list[Any]]  # of a draft they change
    __hash__ = None  # type: ignore[assignment]  # it changes

    def __init__(self, model: Model, values: Mapping[str, Sequence[Any]]) -> None:
        object.__setattr__(self, "_model", model)
        object.__setattr__(self, "_values", {name: list(each) for name, each in values.items()})
        object.__setattr__(self, "_was_written", False)

    def __setattr__(self, name: str, value: object) -> None:
        shape = self._shape
        declared = shape.fields.get(name)
        if declared is None:
            if name in shape.sizes:
                raise AttributeError(f"{name} is a bound or a number of names: no rule sets it")
            raise AttributeError(describe_unknown(name, shape))
        if declared.indices:
            raise AttributeError(
                f"{describe_elements(declared)}: set one, as {name}"
                f"[{', '.join('i' for _ in declared.indices)}] = ..."
            )
        self._write(declared, 0, (), value)

    def _write(self, declared: AnyField, place: int, index: Index, value: object) -> None:
        taken = declared.accept(value, element_name(declared, index))
        object.__setattr__(self, "_was_written", True)
        self._values[declared.name][place] = taken


class Elements:
    """The elements of a field of one state: `s.token[client]`, `s.log[node, 2]`.

    Equal to a tuple of them; of a field with two indices to a tuple of rows.
    """

    __slots__ = ("_declared", "_state")

    def __init__(self, state: State, declared: AnyField) -> None:
        self._state = state
        self._declared = declared

    def __getitem__(self, index: object) -> Any:
        state, declared = self._state, self._declared
        place = state._shape.place(declared, index)
        return state._read(declared, place, index if isinstance(index, tuple) else (index,))

    def __setitem__(self, index: object, value: object) -> None:
        state, declared = self._state, self._declared
        if not isinstance(state, Draft):
            State.__setattr__(state, declared.name, value)
            return
        place = state._shape.place(declared, index)
        at = index if isinstance(index, tuple) else (index,)
        state._write(declared, place, at, value)

    def __len__(self) -> int:
        return extents_of(self._declared)[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._nest())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Elements):
            return self._nest() == other._nest()
        return self._nest() == other

    __hash__ = None  # type: ignore[assignment]  # those of a draft change

    def __repr__(self) -> str:
        return self._state._show(self._declared)

    def _nest(self) -> tuple[Any, ...]:
        state, declared = self._state, self._declared
        places = state._shape.places[declared.name].items()
        views = [state._read(declared, place, index) for index, place in places]
        return nest(views, extents_of(declared))


def unpack(model: Model, state: Packed) -> State:
    """The plain state that a packed one of this model is."""
    shape = model.shape
    values = {
        name: [declared.decode(element(state, declared, i)) for i in shape.places[name]]
        for name, declared in shape.fields.items()
    }
    return State(model, values)
