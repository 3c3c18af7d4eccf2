"""Fields of a model with the bounds of a search taken away.

A model is made again for each bound, with that one larger: a size that differs between the layouts
is a number here that may be any, one that does not stays. Without other models all is known: then
no quantifier is left, and an answer of the solver is a state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import z3

from waterline.checker.proof.quantifiers import Quantifiers
from waterline.checker.proof.terms import (
    Array,
    Mask,
    NotProvable,
    Term,
    as_expression,
    as_mask,
    as_number,
    compare,
    conjunction,
    disjunction,
    equal,
    is_known,
    merge,
    negation,
)
from waterline.model.core.layout import Alive, Field
from waterline.model.core.renaming import Holds, Sort
from waterline.model.core.state import NotAlive
from waterline.model.core.transition_system import Model, Parameter


@dataclass(frozen=True)
class Shape:
    """A field: what its indices count, and the range of its elements; no `hi` where none is.

    What an index counts is a size by its name, or a number that no bound changes. Of a set of names
    `of` is what counts them, "" otherwise. `up_to` is the size that is the most an element can be,
    or "". `first` has the initial elements by their indices, those that no bound takes away.
    `alive` says which rows exist. A search is cut before a step that writes more than `cut`.
    """

    name: str
    dimensions: tuple[str, ...]
    lo: int
    hi: Term | None
    of: str
    up_to: str
    first: dict[tuple[int | None, ...], int]
    alive: Alive | None
    cut: int | None = None
    named: frozenset[int] = frozenset()
    holds_record: bool = False

    @property
    def symbol(self) -> str:
        """The name of its function: its own, unless that is a word of the solver's language."""
        return self.name if _is_free(self.name) else f"field.{self.name}"

    @property
    def is_place(self) -> bool:
        """True if the values are places of a log."""
        return self.up_to == Sort.RECORD.value and not self.holds_record

    @property
    def arguments(self) -> tuple[str, ...]:
        """The sizes that the arguments of its function count."""
        return (*self.dimensions, self.of) if self.of else self.dimensions


class Space:
    """The fields of `model` without the bounds that are different in `others`, each in one of them.

    A search is cut where a step would exceed a bound, so that only an index or a value beyond a
    number of names is an error. `assumed` is known of the sizes; `rounds` are the numbers that a
    quantifier ranges over if all sizes are known. One that is `like` another has the same fields,
    within the bounds of its own model. Values lie within the sizes `limits` that bound them, as in
    each state of a search. The fields `constant` have their initial values in every state, and
    those in `havoc` any after a loop without a form.
    """

    def __init__(
        self,
        model: Model,
        others: Sequence[Model],
        like: Space | None = None,
        *,
        limits: Collection[str] = (),
        havoc: Collection[str] = (),
        apart: Collection[str] = (),
    ) -> None:
        self.model = model
        self.havoc = havoc
        self.constant: frozenset[str] = frozenset()
        self._limits = limits
        self._apart = apart
        self._models = (model, *others)
        self._like = like
        self._named = set(_name_sorts(model))
        self.assumed: list[Any] = []
        self.sizes = {name: self._size(name) for name in model.layout.sizes}
        if len(model.initial) != 1:
            raise NotProvable("a model with several initial states has no proof yet")
        if len({tuple(f.name for f in each.layout.fields) for each in self._models}) != 1:
            raise NotProvable("the fields of the model depend on its bounds")
        if len({each.settings for each in self._models}) != 1:
            raise NotProvable("the settings of the model depend on its bounds")
        if len({tuple(a.name for a in each.enabled_actions) for each in self._models}) != 1:
            raise NotProvable("the actions of the model depend on its bounds")
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
        """By field, what the arguments of its function count; "" of a size that is expanded.

        Records are counted apart from the places of a log, and places of a field in `apart` from
        those of other fields.
        """
        sets = (p for action in self.model.actions for p in action.parameters if p.of)
        return {_name_of(p): (p.of,) for p in sets} | {
            shape.symbol: tuple(self._kinds(shape)) for shape in self.shapes.values()
        }

    def _kinds(self, shape: Shape) -> Iterator[str]:
        for position, size in enumerate(shape.arguments):
            if self.is_expanded(size):
                yield ""
            elif size == Sort.RECORD.value and position not in shape.named:
                yield f"{size} of {shape.name}" if shape.name in self._apart else f"{size} by place"
            else:
                yield size

    def is_expanded(self, size: str) -> bool:
        """True if a size is known where others are not: then each row is looked at alone."""
        return self.rounds is None and is_known(self.sizes[size])

    @property
    def values(self) -> dict[str, str]:
        """By field, the size that its elements go up to, if there is one."""
        return {
            shape.symbol: f"{shape.up_to} by place" if shape.is_place else shape.up_to
            for shape in self.shapes.values()
            if shape.up_to
        }

    def is_name(self, size: str) -> bool:
        """True if a size counts names or is fixed: an index beyond it is always an error."""
        return size in self._named or size.isdecimal()

    def _is_fixed(self, size: str) -> bool:
        return size.isdecimal() or is_known(self.sizes[size])

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
        holds = Holds.PLAIN if a.naming is None else a.naming.holds
        if holds is Holds.DIGITS:
            raise NotProvable(f"{a.name} holds {holds.value}, which has no proof yet")
        of = "" if a.naming is None or a.naming.of is None else a.naming.of.value
        of = of or ("replicas" if holds in (Holds.REPLICA, Holds.REPLICAS) else "")
        of = Sort.RECORD.value if holds is Holds.RECORDS else of
        is_set = holds in (Holds.REPLICAS, Holds.RECORDS)
        hi = self.sizes[of] - 1 if holds is Holds.REPLICA else self._most(alike, is_set)
        most = [f.hi for f in alike]
        up_to = next(iter(self._fitting(most)), "") if len(set(most)) > 1 and not is_set else ""
        dimensions = self._dimensions_of(alike)
        if self._like is not None:
            dimensions = self._like.shapes[a.name].dimensions
        first = self._first(a, dimensions, of if is_set else "")
        if is_set and any(v > 0 for v in first.values()) and not is_known(self.sizes[of]):
            what = "some names as members in the initial state, which has no proof yet"
            raise NotProvable(f"{a.name} has {what}")
        cut = None
        if self._like is not None and not is_set and self._like.shapes[a.name].hi is None:
            hi, cut = None, a.hi
        of = of if is_set else ""
        sorts = () if a.naming is None else (a.naming.rows, a.naming.columns)
        named = frozenset(k for k, sort in enumerate(sorts) if sort is not None)
        holds_record = holds in (Holds.RECORD, Holds.BORN)
        return Shape(
            a.name, dimensions, a.lo, hi, of, up_to, first, a.alive, cut, named, holds_record
        )

    def _first(
        self, a: Field, dimensions: tuple[str, ...], of: str
    ) -> dict[tuple[int | None, ...], int]:
        """The initial elements: see `Shape`. A set of all names of a sort without bound is -1."""
        found = [self._first_of(each, a, dimensions, of) for each in self._models]
        if any(each != found[0] for each in found):
            raise NotProvable(f"{a.name} is not the same everywhere at first, for all bounds")
        return found[0]

    def _first_of(
        self, model: Model, a: Field, dimensions: tuple[str, ...], of: str
    ) -> dict[tuple[int | None, ...], int]:
        (initial,) = model.initial
        values: dict[tuple[int, ...], int] = {}
        for index in model.layout.elements[a.name]:
            if isinstance(index, int):
                continue
            rows = getattr(initial, a.name)
            try:
                value = rows if index == () else rows[index]
            except NotAlive:
                value = a.lo
            if of and not self._is_fixed(of) and value == (1 << model.layout.sizes[of]) - 1:
                value = -1
            values[index] = value
        return self._alike(values, dimensions)

    def _alike(
        self, values: dict[tuple[int, ...], int], dimensions: tuple[str, ...]
    ) -> dict[tuple[int | None, ...], int]:
        """The same values, with those of the last index for any that a bound takes away."""
        if not dimensions:
            return {key: value for key, value in values.items()}  # noqa: C416 - another type
        rows: dict[int, dict[tuple[int, ...], int]] = {}
        for (i, *others), value in values.items():
            rows.setdefault(i, {})[tuple(others)] = value
        alike = {i: self._alike(row, dimensions[1:]) for i, row in rows.items()}
        last = {} if self._is_fixed(dimensions[0]) else alike[max(alike)]
        found: dict[tuple[int | None, ...], int] = {(None, *k): v for k, v in last.items()}
        for i, row in alike.items():
            if row != last:
                found |= {(i, *key): value for key, value in row.items()}
        return found

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
        return {name: self._at_first(shape) for name, shape in self.shapes.items()}

    def _at_first(self, shape: Shape) -> Array:
        values = {
            key: self._initial_set(shape.of, value) if shape.of else value
            for key, value in shape.first.items()
        }

        def get(*index: Term) -> Any:
            (_, found), *others = values.items()
            for key, value in others:
                pairs = zip(index, key, strict=True)
                here = conjunction(*(equal(a, b) for a, b in pairs if b is not None))
                found = merge(here, value, found)
            return found

        return Array(get, bool(shape.of))

    def _initial_set(self, of: str, value: int) -> Mask:
        return Mask(partial(self.within, of)) if value < 0 else as_mask(value)

    def any_state(self) -> dict[str, Array]:
        """A state that may be any."""
        return {
            n: self._at_first(shape) if n in self.constant else self.any_field(n, shape.symbol)
            for n, shape in self.shapes.items()
        }

    def any_field(self, field: str, name: str, more: Sequence[Term] = ()) -> Array:
        """A field that may be any, for each value of `more`, as functions of this name."""
        shape = self.shapes[field]
        sort = z3.BoolSort() if shape.of else z3.IntSort()

        def get(*index: Term) -> Any:
            at = (*more, *index)
            if not at:
                return z3.Const(name, sort)
            function = z3.Function(name, *[z3.IntSort()] * len(at), sort)
            return function(*map(as_expression, at))

        if not shape.of:
            return Array(get)
        size = self.sizes[shape.of]

        def some(index: tuple[Term, ...], i: Term) -> Term:
            member = get(*index, i)
            return conjunction(self.within(shape.of, i), member) if field in self.havoc else member

        if not is_known(size):
            return Array(lambda *index: Mask(partial(some, index)), True)

        def has(index: tuple[Term, ...], i: Term) -> Term:
            return disjunction(*(conjunction(equal(i, k), get(*index, k)) for k in range(size)))

        return Array(lambda *index: Mask(partial(has, index), most=size), True)

    def argument(self, parameter: Parameter) -> Any:
        """An argument that may be any number, or any set of names."""
        name = _name_of(parameter)
        if not parameter.of:
            return z3.Int(name)
        has = z3.Function(name, z3.IntSort(), z3.BoolSort())
        return Mask(lambda i: conjunction(self.within(parameter.of, i), has(as_expression(i))))

    def ranges(self, arrays: dict[str, Array], quantifiers: Quantifiers) -> dict[str, Term]:
        """By field, that its elements lie in their range, and are the least in a dead row."""
        return {
            shape.name: self._everywhere(shape, arrays, (), quantifiers)
            for shape in self.shapes.values()
            if shape.name not in self.constant
        }

    def alive_by(self, name: str) -> list[Shape]:
        """The fields whose rows exist by the values of this one."""
        return [s for s in self.shapes.values() if s.alive is not None and s.alive.field == name]

    def exists(self, shape: Shape, arrays: dict[str, Array], row: Term) -> Term:
        """True if a row of a field is alive."""
        if shape.alive is None:
            return True
        deciding = arrays[shape.alive.field](row)
        return disjunction(*(equal(deciding, value) for value in shape.alive.values))

    def _everywhere(
        self,
        shape: Shape,
        arrays: dict[str, Array],
        index: tuple[Term, ...],
        quantifiers: Quantifiers,
    ) -> Term:
        if len(index) == len(shape.dimensions):
            value = arrays[shape.name](*index)
            dead = negation(self.exists(shape, arrays, index[0])) if shape.alive else False
            if shape.of:
                names = self._has_names_alone(shape.of, value, quantifiers)
                empty = self.is_least(shape, value, quantifiers)
                return conjunction(names, disjunction(negation(dead), empty))
            low = conjunction(
                compare(">=", value, shape.lo),
                disjunction(negation(dead), equal(value, shape.lo)),
            )
            most = shape.cut if shape.hi is None else shape.hi
            if most is None and shape.up_to in self._limits:
                most = self.sizes[shape.up_to]
            return low if most is None else conjunction(low, compare("<=", value, most))
        counted = shape.dimensions[len(index)]
        size = self.sizes[counted]
        if is_known(size):
            every = (self._everywhere(shape, arrays, (*index, i), quantifiers) for i in range(size))
            return conjunction(*every)
        variable = quantifiers.variable("i")
        body = self._everywhere(shape, arrays, (*index, variable), quantifiers)
        outside = negation(self.counts(counted, variable))
        return quantifiers.every(variable, disjunction(outside, body))

    def is_least(self, shape: Shape, value: Any, quantifiers: Quantifiers) -> Term:
        """True if an element has the least value of its field."""
        if not shape.of:
            return equal(value, shape.lo)
        if value.most is not None:
            return conjunction(*(negation(value.has(i)) for i in range(value.most)))
        variable = quantifiers.variable("i")
        return self._for_all(variable, negation(value.has(variable)), quantifiers)

    def _has_names_alone(self, of: str, members: Mask, quantifiers: Quantifiers) -> Term:
        if members.most is not None and members.most == self.sizes[of]:
            return True
        variable = quantifiers.variable("i")
        body = disjunction(self.within(of, variable), negation(members.has(variable)))
        return self._for_all(variable, body, quantifiers)

    def _for_all(self, variable: Any, body: Term, quantifiers: Quantifiers) -> Term:
        if self.rounds is None:
            return quantifiers.every(variable, body)
        instances = (quantifiers.substitute(body, variable, i) for i in self.rounds)
        return conjunction(*instances)

    def counts(self, size: str, index: Term) -> Term:
        """That a field has an element at an index."""
        within = self.within(size, index)
        if size not in self._limits:
            return within
        return conjunction(within, compare("<", index, self.sizes[size]))

    def within(self, size: str, index: Term) -> Term:
        """That an index is not below 0, and is a name where the size counts names."""
        low = compare("<=", 0, as_number(index))
        if not self.is_name(size):
            return low
        return conjunction(low, compare("<", index, self.sizes[size]))


@cache
def _is_free(word: str) -> bool:
    """True if a function may have this name, which the solver is to read again."""
    try:
        z3.parse_smt2_string(f"(declare-fun {word} (Int) Int) (assert (= 0 ({word} 0)))")
    except z3.Z3Exception:
        return False
    return True


def _name_of(parameter: Parameter) -> str:
    return f"arg_{parameter.name}"


def _name_sorts(model: Model) -> Iterator[str]:
    """Sizes that count names which are there from the beginning."""
    for declared in model.layout.fields:
        if declared.naming is not None:
            for sort in (declared.naming.rows, declared.naming.columns, declared.naming.of):
                if sort is not None and not sort.born:
                    yield sort.value
            if declared.naming.holds in (Holds.REPLICA, Holds.REPLICAS):
                yield (declared.naming.of.value if declared.naming.of else "replicas")
