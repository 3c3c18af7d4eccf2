"""Numbers of members of sets of any size, as numbers with some known facts.

Each fact is true of all finite sets. Others that are true as well are left out: a query that needs
them stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from waterline.checker.proof.space import Space
from waterline.checker.proof.terms import (
    Mask,
    Term,
    as_expression,
    compare,
    conjunction,
    disjunction,
    equal,
    is_known,
    negation,
    sum_of,
    total,
)
from waterline.checker.proof.writes import Writes


@dataclass(frozen=True, slots=True, eq=False)
class SizedSet:
    """A set, and its number of members, for each value of the variables `around`.

    `place` is that of its facts among the definitions; `canonical` is the term of its key.
    """

    of: Mask
    size: Any
    around: tuple[Any, ...]
    place: int
    canonical: Any


class Counts(Writes):
    """Numbers of members. `_binders` are the variables of the loops around."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self._binders: list[Any] = []
        self._counted: dict[int, SizedSet] = {}

    def number_of(self, members: Mask) -> Term:
        """See `Expressions`."""
        i, plain = self.quantifiers.variable("i"), z3.Int("member")
        has = members.has(i)
        canonical = as_expression(self.quantifiers.substitute(has, i, plain))
        known = self._counted.get(canonical.get_id())
        if known is not None:
            return known.size
        around = tuple(b for b in self._binders if self.quantifiers.mentions(canonical, b))
        size, name = self.any_number("size", around)
        found = SizedSet(members, size, around, len(self.definitions), canonical)
        self._counted[canonical.get_id()] = found  # a term that is kept keeps its number
        self.define(name, conjunction(*self._facts(found)), around)
        for other in self._counted.values():
            if other is not found or around:
                renamed = self._rename(other)
                both = conjunction(*self._facts_of_two(found, renamed))
                self.define(name, both, (*around, *renamed.around))
        return size

    def forget_counts(self) -> None:
        """Forget the numbers whose facts were forgotten."""
        last = len(self.definitions)
        self._counted = {key: each for key, each in self._counted.items() if each.place < last}

    def any_number(self, name: str, around: Sequence[Any]) -> tuple[Any, str]:
        """A number that may be any, for each value of the variables around, and its name."""
        made = str(self.quantifiers.variable(name))
        if not around:
            return z3.Int(made), made
        return z3.Function(made, *[z3.IntSort()] * (len(around) + 1))(*around), made

    def define(self, name: str, fact: Term, around: Sequence[Any]) -> None:
        """Add a fact about the function of this name to the definitions."""
        for binder in around:
            fact = self.every(binder, fact)
        self.note_subject(name, fact)
        self.definitions.append(fact)

    def _rename(self, of: SizedSet) -> SizedSet:
        """The same set for other values of the variables around."""
        substitute = self.quantifiers.substitute
        made, size = of.of, of.size
        others = tuple(self.quantifiers.variable("o") for _ in of.around)
        for binder, other in zip(of.around, others, strict=True):
            made, size = substitute(made, binder, other), substitute(size, binder, other)
        return SizedSet(made, size, others, of.place, of.canonical)

    def _facts(self, of: SizedSet) -> Iterator[Term]:
        """Facts about one set."""
        size, has = of.size, of.of.has
        i = self.quantifiers.variable("i")
        is_empty = self.every(i, negation(has(i)))
        yield compare(">=", size, 0)
        yield equal(is_empty, compare("<=", size, 0))
        for name, most in self._names():
            is_name = self.space.within(name, i)
            has_names_alone = self.every(i, disjunction(is_name, negation(has(i))))
            has_all_names = self.every(i, disjunction(negation(is_name), has(i)))
            yield disjunction(negation(has_names_alone), compare("<=", size, most))
            yield disjunction(negation(has_all_names), compare(">=", size, most))
            is_less = compare("<", size, most)
            yield disjunction(negation(has_names_alone), has_all_names, is_less)
        if self.space.rounds is not None:
            yield equal(size, sum_of(*(has(k) for k in self.space.rounds)))

    def _facts_of_two(self, one: SizedSet, other: SizedSet) -> Iterator[Term]:
        """Facts about two sets: one within the other, or apart among the names of a sort."""
        i = self.quantifiers.variable("i")
        a, b = one.of.has(i), other.of.has(i)
        for x, y, least, most in ((a, b, one, other), (b, a, other, one)):
            is_part = self.every(i, disjunction(negation(x), y))
            yield disjunction(negation(is_part), compare("<=", least.size, most.size))
        meet = negation(self.every(i, disjunction(negation(a), negation(b))))
        for name, most in self._names():
            is_name = self.space.within(name, i)
            have_names_alone = self.every(i, disjunction(is_name, negation(disjunction(a, b))))
            within = compare("<=", total(one.size, other.size), most)
            yield disjunction(meet, negation(have_names_alone), within)

    def _names(self) -> list[tuple[str, Term]]:
        """The sorts of names without a bound, and how many names each has."""
        sizes = self.space.sizes.items()
        return [(n, size) for n, size in sizes if not is_known(size) and self.space.is_name(n)]
