"""Writes of a rule to states made of terms, and the faults that they can meet."""

from __future__ import annotations

from typing import Any

import z3

from waterline.checker.compiler import ir
from waterline.checker.proof.expressions import Expressions, Frame, StateRef
from waterline.checker.proof.space import Shape, Space
from waterline.checker.proof.terms import (
    Array,
    Mask,
    Term,
    compare,
    conjunction,
    disjunction,
    equal,
    greater,
    is_known,
    negation,
    same,
)


class Writes(Expressions):
    """Writes of elements. `changed` are the fields that got another value than they had."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.changed: set[str] = set()

    def write(
        self, node: ir.Node, state: Any, name: str, index: tuple[Term, ...], value: Any, f: Frame
    ) -> None:
        """Write an element of a draft, and note the faults of that."""
        if not isinstance(state, StateRef) or name not in self.space.shapes:
            raise self.refusal(f, node, "is assigned to, and is no field")
        shape = self.space.shapes[name]
        self.require_index(node, state, name, index, f)
        if shape.of:
            value = self._only_names(node, shape, self.members(node, value, f), f)
        else:
            value = self.number(node, value, f)
            low = compare("<", value, shape.lo)
            high = False if shape.hi is None else compare(">", value, shape.hi)
            self.fault(disjunction(low, high), f, node, f"{name} out of range")
            if shape.cut is not None:
                beyond = compare(">", value, shape.cut)
                self.cuts.append(conjunction(*self._context, f.alive, beyond))
        for loop in self._loops:
            loop.writes.append((state.cell, name, index))
        cell = self.cells[state.cell]
        for each in self.space.alive_by(name):
            self._require_least(node, each, index[0], cell, value, f)
        if not _has_value(cell[name], index, value):
            self.changed.add(name)
        cell[name] = cell[name].put(index, value)

    def _only_names(self, node: ir.Node, shape: Shape, members: Mask, f: Frame) -> Mask:
        """A set that is written, where a stranger among its members is a fault."""
        size = self.space.sizes[shape.of]
        if members.most is not None and is_known(size) and members.most <= size:
            return members
        i = self.quantifiers.variable("i")
        is_none = negation(self.space.within(shape.of, i))
        stranger = self.some(i, conjunction(is_none, members.has(i)))
        self.fault(stranger, f, node, f"{shape.name} out of range")
        if not self.space.is_expanded(shape.of):
            return members
        within = self.space.within
        return Mask(lambda i: conjunction(within(shape.of, i), members.has(i)), most=size)

    def _require_least(
        self, node: ir.Node, shape: Shape, row: Term, cell: dict[str, Array], value: Any, f: Frame
    ) -> None:
        """Note the fault of a row that dies with another value than the least of its field.

        Rows that are never alive together share their bits.
        """
        assert shape.alive is not None
        lives = disjunction(*(equal(value, each) for each in shape.alive.values))
        dies = conjunction(self.space.exists(shape, cell, row), negation(lives))
        if dies is not False:
            least = self._is_least(shape, cell[shape.name], (row,))
            what = f"{shape.name} is not the least value as its row dies"
            self.fault(conjunction(dies, negation(least)), f, node, what)

    def _is_least(self, shape: Shape, array: Array, index: tuple[Term, ...]) -> Term:
        if len(index) == len(shape.dimensions):
            return self.space.is_least(shape, array(*index), self.quantifiers)
        counted = shape.dimensions[len(index)]
        size = self.space.sizes[counted]
        if is_known(size):
            every = (self._is_least(shape, array, (*index, i)) for i in range(size))
            return conjunction(*every)
        i = self.quantifiers.variable("i")
        outside = negation(self.space.counts(counted, i))
        return self.every(i, disjunction(outside, self._is_least(shape, array, (*index, i))))


def _has_value(array: Array, index: tuple[Term, ...], value: Any) -> bool:
    """True if an element is known to have the value that is written to it."""
    before = array(*index)
    if not array.is_mask:
        return same(before, value)
    most = greater(before.most, value.most)
    members = range(most) if most is not None else (z3.Int("any_member"),)
    return all(same(before.has(i), value.has(i)) for i in members)
