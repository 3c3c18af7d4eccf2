"""Fields of a model with the bounds of a search taken away.

A model is made again for each bound, with that one larger: a size that differs between the layouts
is a number here that may be any, one that does not stays. Without other models all is known: then
no quantifier is left, and an answer of the solver is a state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from waterline.checker.proof.quantifiers import Quantifiers
from waterline.checker.proof.terms import (
    Array,
    Mask,
    NotProvable,
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


@dataclass(frozen=True)
class Shape:
    """A field: what its indices count, and the range of its elements; no `hi` where none is.

    What an index counts is a size by its name, or a number that no bound changes. Of a set of names
    `of` is what counts them, "" otherwise. `up_to` is the size that is the most an element can be,
    or "".
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
    """The fields of `model` without the bounds that are different in `others`, each in one of them.

    A search is cut where a step would exceed a bound, so that only an index or a value beyond a
    number of names is an error. `assumed` is known of the sizes; `rounds` are the numbers that a
    quantifier ranges over if all sizes are known. One that is `like` another has the same fields,
    within the bounds of its own model.
    """

    def __init__(self, model: Model, others: Sequence[Model], like: Space | None = None) -> None:
        self.model = model
        self._models = (model, *others)
        self._like = like
        self._named = set(_name_sorts(model))
        self.assumed: list[Any] = []
        self.sizes = {name: self._size(name) for name in model.layout.sizes}
        if len(model.initial) != 1:
            raise NotProvable("a model with several initial states has no proof yet")
        if len({tuple(f.name for f in each.layout.fields) for each in self._models}) != 1:
            raise NotProvable("the fields of the model depend on its bounds")
        alike = zip(*(each.layout.fields for each in self._models), strict=True)
        self.shapes = {each[0].name: self._shape(each) for each in alike}
        counted = {d for shape in self.shapes.values() for d in shape.arguments}
        self.sizes |= {d: int(d) for d in counted if d.isdecimal()}
        self._assume(counted)
        self.rounds: range | None = None
        if all(map(is_known, self.sizes.values())):
            self.rounds = range(-1, max(self.sizes.values()) + 1)

    @property
    def dimensions(self) -> dict[str, tuple[str, ...]]:
        """By field, what the arguments of its function count."""
        return {shape.name: shape.arguments for shape in self.shapes.values()}

    @property
    def values(self) -> dict[str, str]:
        """By field, the size that its elements go up to, if there is one."""
        return {shape.name: shape.up_to for shape in self.shapes.values() if shape.up_to}

    def is_name(self, size: str) -> bool:
        """True if a size counts names or is fixed: an index beyond it is always an error."""
        return size in self._named or size.isdecimal()

    def _size(self, name: str) -> Term:
        values = [each.layout.sizes[name] for each in self._models]
        return values[0] if len(set(values)) == 1 else z3.Int(f"number_of_{name}")

    def _assume(self, counted: set[str]) -> None:
        """Assume of a number of names or of elements that it is one or more."""
        for name, size in self.sizes.items():
            if not is_known(size) and (name in counted or name in self._named):
                self.assumed.append(size >= 1)

    def _shape(self, alike: tuple[Field, ...]) -> Shape:
        a = alike[0]
        if any((f.lo, f.naming, len(f.shape)) != (a.lo, a.naming, len(a.shape)) for f in alike):
            raise NotProvable(f"what {a.name} is depends on the bounds")
        if a.alive is not None:
            raise NotProvable(f"rows of {a.name} exist in some states only, which has no proof yet")
        holds = Holds.PLAIN if a.naming is None else a.naming.holds
        if holds in (Holds.RECORDS, Holds.DIGITS):
            raise NotProvable(f"{a.name} holds {holds.value}, which has no proof yet")
        of = "" if a.naming is None or a.naming.of is None else a.naming.of.value
        of = of or ("replicas" if holds in (Holds.REPLICA, Holds.REPLICAS) else "")
        is_set = holds is Holds.REPLICAS
        hi = self.sizes[of] - 1 if holds is Holds.REPLICA else self._most(alike, is_set)
        values = {value for each in self._models for value in _elements(each.initial, a.name)}
        if len(values) != 1:
            raise NotProvable(f"{a.name} is not the same everywhere at first, for all bounds")
        (first,) = values
        if is_set and first != 0:
            raise NotProvable(f"{a.name} has members in the initial state, which has no proof yet")
        most = [f.hi for f in alike]
        up_to = next(iter(self._fitting(most)), "") if len(set(most)) > 1 and not is_set else ""
        dimensions = self._dimensions_of(alike)
        if self._like is not None:
            dimensions = self._like.shapes[a.name].dimensions
        return Shape(a.name, dimensions, a.lo, hi, of if is_set else "", up_to, first)

    def _most(self, alike: tuple[Field, ...], is_set: bool) -> Term | None:
        """The most that an element can be; None without, and where a search is cut before it."""
        most = [f.hi for f in alike]
        if is_set or len(set(most)) == 1:
            return None if is_set else most[0]
        for name in sorted(self._named):
            more = {
                hi - each.layout.sizes[name] for hi, each in zip(most, self._models, strict=True)
            }
            if len(more) == 1:
                return self.sizes[name] + more.pop()
        for hi, each in zip(most, self._models, strict=True):
            if hi != most[0] and self._names_differ(each):
                raise NotProvable(f"the range of {alike[0].name} is another with more names")
        return None

    def _names_differ(self, model: Model) -> bool:
        first = self._models[0].layout.sizes
        return any(model.layout.sizes[name] != first[name] for name in self._named)

    def _fitting(self, values: Sequence[int]) -> list[str]:
        """The sizes that have these values in the models, and differ between them."""
        if len(set(values)) == 1:
            return []
        sizes = self._models[0].layout.sizes
        return [n for n in sizes if [m.layout.sizes[n] for m in self._models] == list(values)]

    def _dimensions_of(self, alike: tuple[Field, ...]) -> tuple[str, ...]:
        """The size that each extent of a field is, or its number."""
        naming = alike[0].naming
        sorts = () if naming is None else (naming.rows, naming.columns)
        found = []
        for position, extents in enumerate(zip(*(f.shape for f in alike), strict=True)):
            sort = sorts[position] if position < len(sorts) else None
            fitting = self._fitting(extents)
            if sort is not None and sort.value in fitting:
                found.append(sort.value)
            elif fitting or len(set(extents)) == 1:
                found.append(fitting[0] if fitting else str(extents[0]))
            else:
                raise NotProvable(f"an extent of {alike[0].name} is none of the model's sizes")
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


def _elements(states: Sequence[State], name: str) -> Iterator[int]:
    """All elements of a field in some states."""
    for state in states:
        rows = getattr(state, name)
        for index in state.layout.elements[name]:
            yield rows if index == () else rows[index]


def _name_sorts(model: Model) -> Iterator[str]:
    """Sizes that count names which are there from the beginning."""
    for declared in model.layout.fields:
        if declared.naming is not None:
            for sort in (declared.naming.rows, declared.naming.columns, declared.naming.of):
                if sort is not None and not sort.born:
                    yield sort.value
            if declared.naming.holds in (Holds.REPLICA, Holds.REPLICAS):
                yield (declared.naming.of.value if declared.naming.of else "replicas")
