"""Symbol table of a function during compilation.

A name that is given a value in one place stands for that value. One that changes has a slot, and
the range of all that is ever stored there: it is found by compiling until it no longer grows.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from waterline.checker.compiler import ir
from waterline.checker.compiler.emitter import Writer
from waterline.checker.compiler.values import GREATEST, LEAST, Number, Value, number_within
from waterline.model.core.machine_numbers import ROUNDS_MAX

Ranges = dict[str, tuple[int, int]]
FAR = 1 << 62
"""Where what only counts rounds never gets."""


class Names(Protocol):
    """Values of names, as far as expressions need them."""

    def look_up(self, name: str) -> Value | None:
        """Return the value of a name here; None if it is undefined on some path."""

    def narrow(self, ranges: Ranges) -> None:
        """Take it that these names lie in these ranges here."""

    def snapshot(self) -> Snapshot:
        """Return the present values of names."""

    def restore(self, then: Snapshot) -> None:
        """Go back to what names stood for."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Values of names at some point."""

    values: dict[str, Value]
    assigned: frozenset[str]


@dataclass(slots=True)
class Scope:
    """Names and what they stand for."""

    writer: Writer
    changing: frozenset[str]
    ranges: Ranges
    """Range of each variable that changes: of all values stored in it so far, or later."""
    values: dict[str, Value] = field(default_factory=dict)
    assigned: frozenset[str] = frozenset()
    """Variables with a slot that have a value at this point, whichever way led here."""
    steady: frozenset[str] = frozenset()
    """Variables that grow by too little in a round to get far: see `steady_names`."""
    _slots: dict[str, str] = field(default_factory=dict)
    _read_as: Ranges = field(default_factory=dict)

    def look_up(self, name: str) -> Value | None:
        """Return the value of a name here; None if it is undefined on some path."""
        if name not in self.changing:
            return self.values.get(name)
        if name not in self.assigned:
            return None
        self._read_as.setdefault(name, self.ranges[name])
        return number_within(
            self.writer.result(f"load i64, ptr {self._slots[name]}"), *self.ranges[name]
        )

    def assign(self, name: str, value: Value) -> bool:
        """Let a name stand for a value from here on; False for what no variable can be."""
        if name not in self.changing:
            self.values[name] = value
            return True
        if not isinstance(value, Number):
            return False
        if name not in self._slots:
            self._slots[name] = self.writer.slot(name)
        lo, hi = self.ranges.get(name, (value.lo, value.hi))
        self.ranges[name] = (min(lo, value.lo), max(hi, value.hi))
        self.writer.act(f"store i64 {self.writer.as_word(value)}, ptr {self._slots[name]}")
        self.assigned |= {name}
        return True

    def narrow(self, ranges: Ranges) -> None:
        """Take it that these names lie in these ranges here."""
        for name, (least, greatest) in ranges.items():
            value = self.values.get(name)
            if isinstance(value, Number) and not value.truth and not value.is_constant:
                lo, hi = max(least, value.lo), min(greatest, value.hi)
                if lo <= hi:
                    self.values[name] = number_within(value.text, lo, hi)

    def has_grown(self) -> bool:
        """True if a variable was read before all was stored in it that ever is."""
        return any(self.ranges[name] != seen for name, seen in self._read_as.items())

    def widen(self, before: Ranges) -> Ranges:
        """Return the ranges to compile with next, widened where they keep growing."""
        return {
            name: found if found == before.get(name, found) else self._given_up(name, found)
            for name, found in self.ranges.items()
        }

    def _given_up(self, name: str, found: tuple[int, int]) -> tuple[int, int]:
        """All that a variable can be that keeps growing."""
        if name in self.steady and 2 * found[0] > -FAR and 2 * found[1] < FAR:
            return -FAR, FAR
        return LEAST, GREATEST

    def count(self, name: str, value: Number) -> Number:
        """Return a variable's value after an augmented assignment, within its possible range."""
        if name not in self.steady or self.ranges.get(name) != (-FAR, FAR):
            return value
        return number_within(value.text, max(value.lo, -FAR), min(value.hi, FAR))

    # --- ways that part and meet -----------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the present values of names."""
        return Snapshot(dict(self.values), self.assigned)

    def restore(self, then: Snapshot) -> None:
        """Go back to what names stood for."""
        self.values, self.assigned = dict(then.values), then.assigned

    def meet(self, ways: list[Snapshot], before: Snapshot) -> None:
        """Go on where ways meet that parted at `before`: with what is the same on all of them."""
        if len(ways) == 1:
            self.restore(ways[0])
            return
        self.values = dict(before.values)
        self.assigned = ways[0].assigned.intersection(*(way.assigned for way in ways))


@functools.cache
def steady_names(function: ir.Function) -> frozenset[str]:
    """The names whose every augmented assignment adds or takes away a constant, so small that all
    the rounds that loops can go do not add up to half of `FAR`.
    """
    added: Counter[str] = Counter()
    for statement in function.statements():
        match statement:
            case ir.Update(
                target=ir.Name(name=name), operator="+" | "-", value=ir.Constant(value=by)
            ) if by >= 0:
                added[name] += by
            case ir.Update(target=ir.Name(name=name)):
                added[name] += FAR
    counters = {name: by for name, by in added.items() if by < FAR}
    # Of all together: one may be given another's number.
    most = FAR // 2 // ROUNDS_MAX ** _depth(function.body)
    return frozenset(counters) if sum(counters.values()) < most else frozenset()


def _depth(block: ir.Block) -> int:
    """How many loops are within one another."""
    most = 0
    for statement in block:
        match statement:
            case ir.If(then=then, otherwise=otherwise):
                most = max(most, _depth(then), _depth(otherwise))
            case ir.For(body=body) | ir.While(body=body):
                most = max(most, 1 + _depth(body))
    return most


@functools.cache
def changing_names(function: ir.Function) -> frozenset[str]:
    """The names that are given a value in more than one place of a function."""
    places = Counter(function.parameters)
    for statement in function.statements():
        match statement:
            case ir.Assign(targets=targets):
                for target in targets:
                    places.update(_names_in(target))
            case ir.For(counter=counter):
                places[counter.name] += 1
            case ir.Update(target=ir.Name(name=name)):
                places[name] += 2  # what it was and what it becomes
    return frozenset(name for name, count in places.items() if count > 1)


def _names_in(target: ir.Expression) -> Iterator[str]:
    match target:
        case ir.Name(name=name):
            yield name
        case ir.Tuple(items=targets):
            for each in targets:
                yield from _names_in(each)
