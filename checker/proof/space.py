"""Fields of a model with the bounds of a search taken away.

A model is made twice, within different bounds: a size that differs between the two layouts is a
number here that may be any, one that does not stays. Of two equal models all is known:
then no quantifier is left, and an answer of the solver is a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import z3

from waterline.checker.proof.quantifiers import Quantifiers
from waterline.checker.proof.terms import (
    Array,
    Mask,
    Term,
    as_expression,
    as_number,
    compare,
    conjunction,
    disjunction,
    is_known,
    negation,
)
from waterline.model.core.layout import Field
from waterline.model.core.renaming import Holds
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model


class NotProvable(Exception):
    """A model or a rule has a form without translation; the message says which, and where."""


@dataclass(frozen=True)
class Shape:
    """A field: what its indices count, and the range of its elements; no `hi` where none is.

    Of a set of names `of` is what counts them, "" otherwise. `up_to` is the size that is the most
    an element can be, or "".
    """

    name: str
    dimensions: tuple[str, ...]
    lo: int
    hi: Term | None
    of: str
    up_to: str
    first: int

    @property
    def arguments(self) -> tuple[str, ...]:
        """The sizes that the arguments of its function count."""
        return (*self.dimensions, self.of) if self.of else self.dimensions


class Space:
    """The fields of `model` without the bounds that are different in `other`.

    A search is cut where a step would exceed a bound, so that only an index beyond a number of
    names is an error. `assumed` is known of the sizes; `rounds` are the numbers that a quantifier
    ranges over if all sizes are known.
    """

    def __init__(self, model: Model, other: Model) -> None:
        self._sizes = (model.layout.sizes, other.layout.sizes)
        self._named = set(_name_sorts(model))
        self.assumed: list[Any] = []
        self.sizes = {name: self._size(name) for name in model.layout.sizes}
        self.rounds: range | None = None
        if not self.assumed:
            self.rounds = range(-1, max(self.sizes.values()) + 1)
        if len(model.initial) != 1:
            raise NotProvable("a model with several initial states has no proof yet")
        if len(model.layout.fields) != len(other.layout.fields):
            raise NotProvable("the fields of the model depend on its bounds")
        self.shapes = {
            a.name: self._shape(a, b, model.initial[0])
            for a, b in zip(model.layout.fields, other.layout.fields, strict=True)
        }

    @property
    def dimensions(self) -> dict[str, tuple[str, ...]]:
        """By field, what the arguments of its function count."""
        return {shape.name: shape.arguments for shape in self.shapes.values()}

    @property
    def values(self) -> dict[str, str]:
        """By field, the size that its elements go up to, if there is one."""
        return {shape.name: shape.up_to for shape in self.shapes.values() if shape.up_to}

    def is_name(self, size: str) -> bool:
        """True if a size counts names: an index beyond it is an error, whatever the bounds."""
        return size in self._named

    def _size(self, name: str) -> Term:
        one, other = (sizes[name] for sizes in self._sizes)
        if one == other:
            return one
        number = z3.Int(f"number_of_{name}")
        self.assumed.append(number >= 1)
        return number

    def _shape(self, a: Field, b: Field, initial: State) -> Shape:
        if a.alive is not None:
            raise NotProvable(f"rows of {a.name} exist in some states only, which has no proof yet")
        holds = Holds.PLAIN if a.naming is None else a.naming.holds
        if holds in (Holds.RECORDS, Holds.DIGITS):
            raise NotProvable(f"{a.name} holds {holds.value}, which has no proof yet")
        of = "" if a.naming is None or a.naming.of is None else a.naming.of.value
        of = of or ("replicas" if holds in (Holds.REPLICA, Holds.REPLICAS) else "")
        hi: Term | None = None if a.hi != b.hi else a.hi
        if holds is Holds.REPLICA:
            hi = self.sizes[of] - 1
        values = {
            getattr(initial, a.name) if index == () else getattr(initial, a.name)[index]
            for index in initial.layout.elements[a.name]
        }
        if len(values) != 1:
            raise NotProvable(f"{a.name} is not the same everywhere in the initial state")
        (first,) = values
        is_set = holds is Holds.REPLICAS
        if is_set and first != 0:
            raise NotProvable(f"{a.name} has members in the initial state, which has no proof yet")
        up_to = "" if a.hi == b.hi or is_set else next(iter(self._fitting(a.hi, b.hi)), "")
        return Shape(
            a.name, self._dimensions_of(a, b), a.lo, hi, of if is_set else "", up_to, first
        )

    def _fitting(self, one: int, other: int) -> list[str]:
        """The sizes that have these values in the two models."""
        sizes, others = self._sizes
        return [name for name in sizes if (sizes[name], others[name]) == (one, other)]

    def _dimensions_of(self, a: Field, b: Field) -> tuple[str, ...]:
        """The size that each extent of a field is."""
        sorts = () if a.naming is None else (a.naming.rows, a.naming.columns)
        found = []
        for position, extents in enumerate(zip(a.shape, b.shape, strict=True)):
            sort = sorts[position] if position < len(sorts) else None
            fitting = self._fitting(*extents)
            if sort is not None and sort.value in fitting:
                fitting = [sort.value]
            if not fitting:
                raise NotProvable(f"an extent of {a.name} is none of the model's sizes")
            found.append(fitting[0])
        return tuple(found)

    def initial(self) -> dict[str, Array]:
        """The initial state."""
        return {name: self._constant(shape) for name, shape in self.shapes.items()}

    def _constant(self, shape: Shape) -> Array:
        if shape.of:
            return Array(lambda *index: Mask(lambda i: False), True)
        return Array(lambda *index: shape.first)

    def any_state(self) -> dict[str, Array]:
        """A state that may be any."""
        return {name: self._any(shape) for name, shape in self.shapes.items()}

    def _any(self, shape: Shape) -> Array:
        sort = z3.BoolSort() if shape.of else z3.IntSort()

        def get(*index: Term) -> Any:
            if not index:
                return z3.Const(shape.name, sort)
            function = z3.Function(shape.name, *[z3.IntSort()] * len(index), sort)
            return function(*map(as_expression, index))

        if shape.of:
            return Array(lambda *index: Mask(lambda i: get(*index, i)), True)
        return Array(get)

    def ranges(self, arrays: dict[str, Array], quantifiers: Quantifiers) -> list[Term]:
        """That every element lies in the range of its field."""
        return [
            self._everywhere(shape, arrays[shape.name], (), quantifiers)
            for shape in self.shapes.values()
        ]

    def _everywhere(
        self, shape: Shape, array: Array, index: tuple[Term, ...], quantifiers: Quantifiers
    ) -> Term:
        if len(index) == len(shape.dimensions):
            value = array(*index)
            if shape.of:
                return self._has_names_alone(shape.of, value, quantifiers)
            low = compare(">=", value, shape.lo)
            return low if shape.hi is None else conjunction(low, compare("<=", value, shape.hi))
        counted = shape.dimensions[len(index)]
        size = self.sizes[counted]
        if is_known(size):
            every = (self._everywhere(shape, array, (*index, i), quantifiers) for i in range(size))
            return conjunction(*every)
        variable = quantifiers.variable("i")
        body = self._everywhere(shape, array, (*index, variable), quantifiers)
        within = self.within(counted, variable)
        return quantifiers.every(variable, disjunction(negation(within), body))

    def _has_names_alone(self, of: str, members: Mask, quantifiers: Quantifiers) -> Term:
        variable = quantifiers.variable("i")
        body = disjunction(self.within(of, variable), negation(members.has(variable)))
        if self.rounds is None:
            return quantifiers.every(variable, body)
        instances = (quantifiers.substitute(body, variable, i) for i in self.rounds)
        return conjunction(*instances)

    def within(self, size: str, index: Term) -> Term:
        """That an index is not below 0, and is a name where the size counts names."""
        low = compare("<=", 0, as_number(index))
        if not self.is_name(size):
            return low
        return conjunction(low, compare("<", index, self.sizes[size]))


def _name_sorts(model: Model) -> Iterator[str]:
    """Sizes that count names which are there from the beginning."""
    for declared in model.layout.fields:
        if declared.naming is not None:
            for sort in (declared.naming.rows, declared.naming.columns, declared.naming.of):
                if sort is not None and not sort.born:
                    yield sort.value
            if declared.naming.holds in (Holds.REPLICA, Holds.REPLICAS):
                yield (declared.naming.of.value if declared.naming.of else "replicas")
