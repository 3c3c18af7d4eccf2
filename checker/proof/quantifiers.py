"""Quantified truths, and the terms that they are instantiated with.

Until a query is made, "for every x" is a constant of its own that stands for a variable and a body.
`Query` form: each quantifier asks a predicate `seed` of its variable, and terms that a rule uses as
an index are seeds. Which instances the solver makes is decided so, not by its heuristics, and their
number is finite: a query is answered in hundredths of a second, or undecided as soon.

That is sound: a predicate that is true everywhere makes the query what it was, so whatever has no
model with `seed` has none without. Seeds have generations: those of the step and of the negated
goal have the first, and an instance of a lemma makes seeds of the next.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import z3

from waterline.checker.proof.terms import Mask, Term, as_expression, is_known

Dimensions = Mapping[str, Sequence[str]]
"""By the name of a field's function, what each argument counts."""
Seed = tuple[str, Any]
"""A term used as an index, and what it counts."""


class Part(NamedTuple):
    """A term with the name of its function and its arguments, read from the solver once."""

    term: Any
    name: str
    children: tuple[Any, ...]


@dataclass
class Quantifiers:
    """Quantified truths by the constants that stand for them."""

    _bodies: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    _free: dict[int, frozenset[int]] = field(default_factory=dict)
    _quantified: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _symbols: dict[int, frozenset[str]] = field(default_factory=dict)
    _parts: dict[int, Part] = field(default_factory=dict)
    _names: int = 0

    def variable(self, name: str = "x") -> Any:
        """A number with a name that no other has."""
        self._names += 1
        return z3.Int(f"{name}!{self._names}")

    def every(self, variable: Any, body: Term) -> Term:
        """True if the body is, for every number."""
        if is_known(body) or not self.mentions(body, variable):
            return body
        self._names += 1
        stands = z3.Bool(f"every!{self._names}")
        self._bodies[stands.get_id()] = (variable, body)
        self.part(stands)  # a term that is kept keeps its number
        return stands

    def body(self, stands: Any) -> tuple[Any, Any] | None:
        """The variable and the body that a constant stands for; None for any other term."""
        return self._bodies.get(stands.get_id())

    def part(self, term: Any) -> Part:
        """A term's function and arguments."""
        found = self._parts.get(term.get_id())
        if found is None:
            name = term.decl().name()
            found = self._parts[term.get_id()] = Part(term, name, tuple(term.children()))
        return found

    def parts(self, term: Any) -> Iterator[Part]:
        """A term and its parts, each once, apart from the bodies of quantified truths."""
        seen: set[int] = set()
        waiting = [term]
        while waiting:
            each = waiting.pop()
            if each.get_id() not in seen:
                seen.add(each.get_id())
                part = self.part(each)
                yield part
                waiting += part.children

    def mentions(self, value: Any, variable: Any) -> bool:
        """True if a term depends on the variable."""
        if isinstance(value, tuple):
            return any(self.mentions(v, variable) for v in value)
        return isinstance(value, z3.ExprRef) and variable.get_id() in self._free_in(value)

    def substitute(self, value: Any, variable: Any, by: Term) -> Any:
        """The value with another term in the variable's place."""
        if isinstance(value, Mask):
            return Mask(
                lambda i: self.substitute(value.has(i), variable, by), is_finite=value.is_finite
            )
        if isinstance(value, tuple):
            return tuple(self.substitute(v, variable, by) for v in value)
        if not self.mentions(value, variable):
            return value
        changes = [(variable, as_expression(by))]
        for stands in self._quantified_in(value):
            of, body = self._bodies[stands]
            if self.mentions(body, variable):
                new = self.variable()
                body = self.substitute(self.substitute(body, of, new), variable, by)
                changes.append((self._parts[stands].term, as_expression(self.every(new, body))))
        return z3.substitute(value, *changes)

    def symbols(self, term: Any) -> frozenset[str]:
        """The names of all functions in a term, the bodies of quantified truths included."""
        number = term.get_id()
        if number not in self._symbols:
            known = self.body(term)
            part = self.part(term)
            inner = part.children if known is None else (known[1],)
            found = [self.symbols(each) for each in inner if isinstance(each, z3.ExprRef)]
            self._symbols[number] = frozenset([part.name]).union(*found)
        return self._symbols[number]

    def _quantified_in(self, term: Any) -> tuple[int, ...]:
        """Numbers of the constants in a term that stand for quantified truths.

        They are those outside of other quantified truths, from the last part of the term on.
        """
        number = term.get_id()
        if number not in self._quantified:
            inner = [self._quantified_in(each) for each in self.part(term).children]
            own = (number,) if number in self._bodies else ()
            self._quantified[number] = tuple(dict.fromkeys(itertools.chain(own, *inner[::-1])))
        return self._quantified[number]

    def _free_in(self, term: Any) -> frozenset[int]:
        """Numbers of the constants that a term depends on."""
        number = term.get_id()
        if number not in self._free:
            if (known := self.body(term)) is not None:
                found = self._free_in(known[1]) - {known[0].get_id()}
            else:
                children = self.part(term).children
                inner = [self._free_in(each) for each in children]
                found = frozenset().union(*inner) if inner else frozenset([number])
            self.part(term)
            self._free[number] = found
        return self._free[number]


class Instantiation:
    """Assertions of a query, whose quantifiers are instantiated with seeds of few generations.

    Indices are seeds, and elements of the fields in `values`, which are as large as an index.
    """

    def __init__(
        self,
        quantifiers: Quantifiers,
        dimensions: Dimensions,
        generations: int,
        values: Mapping[str, str],
    ) -> None:
        self._quantifiers = quantifiers
        self._dimensions = dimensions
        self._values = values
        self._last = generations
        self._made: dict[int, tuple[Any, Any]] = {}

    def assertion(self, term: Any) -> Any:
        """The form of an assertion."""
        if is_known(term):
            return z3.BoolVal(term)
        if term.get_id() not in self._made:
            seeds = self._are_seeds(self._seeds_in(term), ())
            self._made[term.get_id()] = term, _all(self._close(term, True, ()), *seeds)
        return self._made[term.get_id()][1]

    def axioms(self) -> list[Any]:
        """The relation of generations: a seed of one is a seed of the next."""
        x = z3.Int("x!seed")
        every = dict.fromkeys(d for counted in self._dimensions.values() for d in counted if d)
        return [
            z3.ForAll([x], z3.Implies(self._seed(d, k, x), self._seed(d, k + 1, x)))
            for d in every
            for k in range(self._last)
        ]

    def _seed(self, counted: str, generation: int, term: Any) -> Any:
        name = f"seed_{counted}_{generation}"
        return z3.Function(name, z3.IntSort(), z3.BoolSort())(term)

    def _are_seeds(self, seeds: Sequence[Seed], scope: Sequence[Seed]) -> list[Any]:
        """That terms are seeds, of a generation later than all variables in scope."""
        if not scope:
            return [self._seed(d, 0, t) for d, t in seeds]
        return [
            z3.Implies(
                _all(*(self._seed(d, k, v) for d, v in scope)),
                _all(*(self._seed(d, k + 1, t) for d, t in seeds)),
            )
            for k in range(self._last)
            if seeds
        ]

    def _close(  # noqa: PLR0911 - one each
        self, term: Any, positive: bool, scope: tuple[Seed, ...]
    ) -> Any:
        """A truth, or its negation, with its quantifiers written out."""
        if (known := self._quantifiers.body(term)) is not None:
            return self._quantify(*known, positive, scope)
        _, name, children = self._quantifiers.part(term)
        if name == "not":
            return self._close(children[0], not positive, scope)
        if name in ("and", "or"):
            join = z3.And if (name == "and") == positive else z3.Or
            return join(*(self._close(each, positive, scope) for each in children))
        if name == "if":
            test, one, other = children
            return z3.And(
                z3.Or(self._close(test, False, scope), self._close(one, positive, scope)),
                z3.Or(self._close(test, True, scope), self._close(other, positive, scope)),
            )
        if name == "=" and z3.is_bool(children[0]):
            one, other = children
            return z3.And(
                z3.Or(self._close(one, False, scope), self._close(other, positive, scope)),
                z3.Or(self._close(one, True, scope), self._close(other, not positive, scope)),
            )
        parts = self._quantifiers.parts(term)
        within = [part.term for part in parts if self._quantifiers.body(part.term) is not None]
        if within:
            return self._close_by_cases(term, within[0], positive, scope)
        return term if positive else z3.Not(term)

    def _close_by_cases(self, term: Any, test: Any, positive: bool, scope: tuple[Seed, ...]) -> Any:
        one, other = (
            z3.simplify(z3.substitute(term, (test, z3.BoolVal(value)))) for value in (True, False)
        )
        return z3.And(
            z3.Or(self._close(test, False, scope), self._close(one, positive, scope)),
            z3.Or(self._close(test, True, scope), self._close(other, positive, scope)),
        )

    def _quantify(self, variable: Any, body: Any, positive: bool, scope: tuple[Seed, ...]) -> Any:
        fresh = self._quantifiers.variable()
        offset, counted = self._uses_of(variable, body)
        body = self._quantifiers.substitute(body, variable, fresh - offset if offset else fresh)
        if offset:
            body = z3.simplify(body)
        own = tuple((d, fresh) for d in counted)
        seeds = [seed for seed in self._seeds_in(body) if not seed[1].eq(fresh)]
        if not positive:
            inner = self._close(body, False, scope)
            known = self._are_seeds([*own, *seeds], scope)
            return z3.Exists([fresh], _all(inner, *known))
        around = (*scope, *own)
        inner = _all(self._close(body, True, around), *self._are_seeds(seeds, around))
        if not own:  # such as the members of a set that is written down: 0 is a name at least
            return z3.And(z3.ForAll([fresh], inner), z3.substitute(inner, (fresh, z3.IntVal(0))))
        guards = [self._seed(d, self._last, v) for d, v in own]
        pattern = z3.MultiPattern(*guards)
        return z3.ForAll([fresh], z3.Implies(_all(*guards), inner), patterns=[pattern])

    def _uses_of(self, variable: Any, body: Any) -> tuple[int, list[str]]:
        """The offset of a variable where it is an index, if it is the same everywhere, else 0.

        With it what the variable counts.
        """
        found: dict[tuple[str, int], None] = {}
        waiting = [body]
        while waiting:
            for part in self._quantifiers.parts(waiting.pop()):
                if (inner := self._quantifiers.body(part.term)) is not None:
                    if self._quantifiers.mentions(inner[1], variable):
                        waiting.append(inner[1])
                    continue
                for counted, index in self._indices(part):
                    offset = self._offset(index, variable)
                    if offset is not None:
                        found.setdefault((counted, offset))
        offsets = {offset for _, offset in found}
        return offsets.pop() if len(offsets) == 1 else 0, sorted({d for d, _ in found})

    def _offset(self, index: Any, variable: Any) -> int | None:
        """The number that is added to a variable; None for any other term."""
        if index.eq(variable):
            return 0
        if not self._quantifiers.mentions(index, variable):
            return None
        offset = z3.simplify(index - variable, som=True)
        return offset.as_long() if z3.is_int_value(offset) else None

    def _indices(self, part: Part) -> list[Seed]:
        dimensions = self._dimensions.get(part.name)
        pairs = zip(dimensions or (), part.children if dimensions else (), strict=True)
        return [(counted, index) for counted, index in pairs if counted]

    def _seeds_in(self, term: Any) -> list[Seed]:
        """Indices in a term, apart from those within its quantified parts."""
        found = {}
        for part in self._quantifiers.parts(term):
            for counted, index in self._indices(part):
                found[counted, index.get_id()] = (counted, index)
            if (valued := self._values.get(part.name)) is not None:
                found[valued, part.term.get_id()] = (valued, part.term)
        return list(found.values())


def _all(first: Any, *others: Any) -> Any:
    return z3.And(first, *others) if others else first
