"""Values of rules as terms: numbers, truths, sets of names, and fields as functions of indices.

A value that is known stays a Python number, so that a version's features are decided during the
translation. A field is a Python function from indices to a value, and a store makes a new one
around the old: a state after a step is terms over the state before it, without a theory of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

Term = Any
"""A Python number or truth, or one of the solver: `int | bool | z3.ExprRef`."""
_ORDERED: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: b < a,
    ">=": lambda a, b: b <= a,
}


class NotProvable(Exception):
    """A model or a rule has a form without translation; the message says which, and where."""


def is_known(x: Any) -> bool:
    """True for a number or a truth of Python's."""
    return isinstance(x, int)


def is_truth(x: Any) -> bool:
    """True for a truth, known or not."""
    return isinstance(x, bool) or (isinstance(x, z3.ExprRef) and z3.is_bool(x))


def as_number(x: Term) -> Term:
    """A truth as 0 or 1; a numeral of the solver as Python's."""
    if isinstance(x, z3.IntNumRef):
        return x.as_long()
    if not is_truth(x):
        return x
    return int(x) if is_known(x) else z3.If(x, z3.IntVal(1), z3.IntVal(0))


def as_expression(x: Term) -> Any:
    """A term as the solver has it."""
    if isinstance(x, bool):
        return z3.BoolVal(x)
    return z3.IntVal(x) if isinstance(x, int) else x


def known_truth(x: Any) -> Term:
    """A truth that is decided, as Python's."""
    return True if z3.is_true(x) else False if z3.is_false(x) else x


def as_truth(x: Term) -> Term:
    """True for every number but 0, as Python has it."""
    if is_truth(x):
        return x
    return x != 0 if is_known(x) else x != z3.IntVal(0)


def conjunction(*xs: Term) -> Term:
    """True if all are."""
    return _join(xs, False, z3.And)


def disjunction(*xs: Term) -> Term:
    """True if one is."""
    return _join(xs, True, z3.Or)


def _join(xs: tuple[Term, ...], deciding: bool, join: Callable[..., Term]) -> Term:
    kept: list[Any] = []
    for x in xs:
        if x is deciding:
            return deciding
        if x is not (not deciding) and not any(x.eq(k) for k in kept):
            kept.append(x)
    return (not deciding) if not kept else kept[0] if len(kept) == 1 else join(*kept)


def negation(x: Term) -> Term:
    """True if the other is not."""
    if isinstance(x, bool):
        return not x
    return x.arg(0) if z3.is_not(x) else z3.Not(x)


def same(a: Any, b: Any) -> bool:
    """True if both are the same term."""
    if is_known(a) or is_known(b):
        return is_known(a) and is_known(b) and type(a) is type(b) and bool(a == b)
    return isinstance(a, z3.ExprRef) and isinstance(b, z3.ExprRef) and a.eq(b)


def choice(c: Term, a: Term, b: Term) -> Term:
    """`a` where c is true, `b` elsewhere."""
    if c is True or same(a, b):
        return a
    if c is False:
        return b
    if is_truth(a) and is_truth(b):
        if is_known(a):
            return disjunction(c, b) if a else conjunction(negation(c), b)
        if is_known(b):
            return disjunction(negation(c), a) if b else conjunction(c, a)
        return z3.If(c, a, b)
    return z3.If(c, as_expression(as_number(a)), as_expression(as_number(b)))


def equal(a: Term, b: Term) -> Term:
    """True if both have the same value, where a truth is 0 or 1."""
    if is_truth(a) and is_truth(b):
        if is_known(a):
            return b if a else negation(b)
        return (a if b else negation(a)) if is_known(b) else a == b
    for x, y in ((a, b), (b, a)):
        if is_truth(x) and is_known(y):
            return x if y == 1 else negation(x) if y == 0 else False
    a, b = as_number(a), as_number(b)
    if is_known(a) and is_known(b):
        return a == b
    return True if same(a, b) else as_expression(a) == as_expression(b)


def compare(operator: str, a: Term, b: Term) -> Term:
    """A comparison of two numbers, by its operator in Python."""
    if operator in ("==", "!="):
        return equal(a, b) if operator == "==" else negation(equal(a, b))
    a, b = as_number(a), as_number(b)
    if is_known(a) and is_known(b):
        return _ORDERED[operator](a, b)
    if same(a, b):
        return operator in ("<=", ">=")
    return _ORDERED[operator](as_expression(a), as_expression(b))


def total(a: Term, b: Term) -> Term:
    """Their sum, in one form."""
    return as_number(z3.simplify(as_expression(as_number(a)) + as_expression(as_number(b))))


def arithmetic(operator: str, a: Term, b: Term) -> Term | None:
    """The value of an operation on two numbers, None if it has no translation.

    A remainder is that of a number below twice the other: what a ring takes.
    """
    match operator:
        case "+" | "-":
            return total(a, b if operator == "+" else -b)
        case "%":
            return choice(compare("<", a, b), a, total(a, -b))
        case "*" if is_known(a) or is_known(b):
            return as_number(z3.simplify(as_expression(a) * as_expression(b)))
    return None


def extreme_of(numbers: Sequence[Term], is_least: bool) -> Term:
    """The least of these, or the greatest."""
    found, *others = numbers
    for each in others:
        found = choice(compare("<=" if is_least else ">=", found, each), found, each)
    return found


def numbers_in(x: Term) -> frozenset[int]:
    """All values of a term that is a choice between known numbers, such as a length; else none."""
    x = as_number(x)
    if is_known(x):
        return frozenset([x])
    if z3.is_app_of(x, z3.Z3_OP_ITE):
        one, other = map(numbers_in, x.children()[1:])
        return one | other if one and other else frozenset()
    if z3.is_app_of(x, z3.Z3_OP_ADD):
        one, *more = map(numbers_in, x.children())
        for other in more:
            one = frozenset(a + b for a in one for b in other)
        return one
    return frozenset()


def sum_of(*truths: Term) -> Term:
    """The number of these that are true."""
    found: Term = 0
    for each in truths:
        found = total(found, each)
    return found


@dataclass(frozen=True)
class Mask:
    """A set of names: the members, as a function from a name to a truth.

    `member` is set for `1 << member`, which is also the first half of `(1 << n) - 1`. All members
    are known to be below the number `most`, if there is one. A complement is not finite.
    """

    has: Callable[[Term], Term]
    member: Term = None
    most: int | None = None
    is_finite: bool = True


@dataclass(frozen=True)
class Count:
    """The number of members of a set: that it is compared with a known number can be written down.

    Elsewhere it is a number with known facts (`counts`).
    """

    of: Mask


def greater(a: int | None, b: int | None) -> int | None:
    """The greater of two numbers; None if one is."""
    return None if a is None or b is None else max(a, b)


@dataclass(frozen=True)
class ShiftedMask:
    """`members >> member`: a rule may only read its last bit."""

    bit: Term


def as_mask(x: Any) -> Mask:
    """A set, or the number that a set is; of a negative one, the complement of a set."""
    if isinstance(x, Mask):
        return x
    if not is_known(x):
        raise NotProvable(f"a set in one case is a number in another: {x}")
    if x < 0:
        out = as_mask(~x)
        return Mask(lambda i: negation(out.has(i)), is_finite=False)
    names = [k for k in range(x.bit_length()) if x >> k & 1]
    return Mask(lambda i: disjunction(*(equal(i, k) for k in names)), most=x.bit_length())


class Array:
    """A field: a value for each index. It keeps the values that were read."""

    def __init__(self, get: Callable[..., Any], is_mask: bool = False) -> None:
        self.is_mask = is_mask
        self._get = get
        self._kept: dict[Any, tuple[Any, Any]] = {}

    def __call__(self, *index: Term) -> Any:
        """The element at an index."""
        index = tuple(map(as_number, index))
        key = tuple(i if is_known(i) else ("term", i.get_id()) for i in index)
        if key not in self._kept:
            self._kept[key] = (index, self._get(*index))  # a term that is kept keeps its number
        return self._kept[key][1]

    def put(self, index: tuple[Term, ...], value: Any) -> Array:
        """The field with another value at an index."""
        stored = as_mask(value) if self.is_mask else value

        def get(*at: Term) -> Any:
            here = conjunction(*(equal(a, b) for a, b in zip(at, index, strict=True)))
            return stored if here is True else merge(here, stored, self(*at))

        return Array(get, self.is_mask)


def merge(c: Term, a: Any, b: Any) -> Any:  # noqa: PLR0911 - one each
    """`a` where c is true and `b` elsewhere, of any kind."""
    if a is b or c is True:
        return a
    if c is False:
        return b
    if isinstance(a, Array):
        return Array(lambda *i: merge(c, a(*i), b(*i)), a.is_mask)
    if isinstance(a, tuple):
        return tuple(merge(c, x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, Count) and isinstance(b, Count):
        return Count(merge(c, a.of, b.of))
    if isinstance(a, Count) or isinstance(b, Count):
        raise NotProvable("the number of members of a set in one case is another number elsewhere")
    if isinstance(a, Mask) or isinstance(b, Mask):
        one, other = as_mask(a), as_mask(b)
        return Mask(
            lambda i: choice(c, one.has(i), other.has(i)),
            most=greater(one.most, other.most),
            is_finite=one.is_finite and other.is_finite,
        )
    return choice(c, a, b)
