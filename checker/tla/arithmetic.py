r"""Arithmetic and comparisons as TLA+ has them, with Python's meaning.

`//` rounds down and `%` has the divisor's sign in Python. TLA+'s `\div` rounds down, and its `%`
takes a positive divisor alone: for others there is an operator of the module's own, as for bits.
"""

from __future__ import annotations

from checker.tla.kinds import (
    TRUTHS,
    WHOLE,
    Typed,
    as_kind,
    kind_of_all,
    truth,
    whole,
)
from checker.tla.program import Program
from checker.tla.tree import (
    Apply,
    Collection,
    Infix,
    Minus,
    Number,
    Tree,
    Truth,
    Word,
    chosen,
    joined,
    minus,
    negated,
    plus,
)

_COMPARISONS = {"==": "=", "!=": "#", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_KNOWN = {
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
_BITS = {"&": "BitAnd", "|": "BitOr", "^": "BitXor"}


def operated(program: Program, operator: str, left: Typed, right: Typed) -> Typed:
    """`left operator right`, of two numbers."""
    one, other = as_kind(left, WHOLE), as_kind(right, WHOLE)
    if operator in _BITS and left.kind == right.kind == TRUTHS:
        return _of_truths(operator, left.tree, right.tree)
    return Typed(_operated(program, operator, one, other), WHOLE)


def _of_truths(operator: str, left: Tree, right: Tree) -> Typed:
    if operator == "^":
        return Typed(Infix("#", left, right), TRUTHS)
    return Typed(joined("/\\" if operator == "&" else "\\/", left, right), TRUTHS)


def _operated(  # noqa: PLR0911 - one for each operator
    program: Program, operator: str, left: Tree, right: Tree
) -> Tree:
    match operator, left, right:
        case "+", _, _:
            return plus(left, right)
        case "-", _, _:
            return minus(left, right)
        case _, Number(value=one), Number(value=other) if _is_defined(operator, one, other):
            return Number(_KNOWN[operator](one, other))
        case "*", _, _:
            return Infix("*", left, right)
        case "//", _, _:
            return Infix(r"\div", left, right)
        case "%", _, _:
            divisor = program.value_of(right)
            if divisor is not None and divisor > 0:
                return Infix("%", left, right)
            return Apply(program.helper("Modulo"), (left, right))
        case "<<", _, Number(value=bits):
            return Infix("*", left, Number(1 << bits))
        case ">>", _, Number(value=bits):
            return Infix(r"\div", left, Number(1 << bits))
        case "<<", _, _:
            return Infix("*", left, Infix("^", Number(2), right))
        case ">>", _, _:
            return Infix(r"\div", left, Infix("^", Number(2), right))
    return Apply(program.helper(_BITS[operator]), (left, right))


def _is_defined(operator: str, left: int, right: int) -> bool:
    if operator in ("//", "%"):
        return right != 0
    if operator in ("<<", ">>"):
        return 0 <= right < 63
    return True


def opposite(operand: Typed) -> Typed:
    """`-operand`"""
    tree = as_kind(operand, WHOLE)
    return Typed(Number(-tree.value) if isinstance(tree, Number) else Minus(tree), WHOLE)


def inverted(operand: Typed) -> Typed:
    """`~operand`, which is -1 less it."""
    return Typed(minus(Number(-1), as_kind(operand, WHOLE)), WHOLE)


def bits_of(program: Program, operand: Typed) -> Typed:
    """`operand.bit_count()`"""
    tree = as_kind(operand, WHOLE)
    if isinstance(tree, Number):
        return whole(tree.value.bit_count())
    return Typed(Apply(program.helper("BitCount"), (tree,)), WHOLE)


def called(program: Program, name: str, given: list[Typed]) -> Typed | None:
    """`min`, `max`, `abs`, `int` or `bool` of these; None where it is not given so many."""
    match name, given:
        case "min" | "max", [_, _, *_]:
            trees = [as_kind(each, WHOLE) for each in given]
            found, *others = trees
            for other in others:
                found = _extreme(program, name, found, other)
            return Typed(found, WHOLE)
        case "abs", [operand]:
            tree = as_kind(operand, WHOLE)
            if isinstance(tree, Number):
                return whole(abs(tree.value))
            return Typed(Apply(program.helper("Abs"), (tree,)), WHOLE)
        case "int", [operand]:
            return Typed(as_kind(operand, WHOLE), WHOLE)
        case "bool", [operand]:
            return Typed(as_kind(operand, TRUTHS), TRUTHS)
    return None


def _extreme(program: Program, name: str, left: Tree, right: Tree) -> Tree:
    if isinstance(left, Number) and isinstance(right, Number):
        return Number((min if name == "min" else max)(left.value, right.value))
    return Apply(program.helper(name.capitalize()), (left, right))


def compared(operator: str, left: Typed, right: Typed) -> Typed:
    """`left operator right`, a truth."""
    sign = _COMPARISONS[operator]
    if sign in ("=", "#"):
        return Typed(_same(left, right) if sign == "=" else negated(_same(left, right)), TRUTHS)
    one, other = as_kind(left, WHOLE), as_kind(right, WHOLE)
    if isinstance(one, Number) and isinstance(other, Number):
        holds = {"<": one.value < other.value, "<=": one.value <= other.value}
        holds |= {">": one.value > other.value, ">=": one.value >= other.value}
        return truth(holds[sign])
    return Typed(Infix(sign, one, other), TRUTHS)


def _same(left: Typed, right: Typed) -> Tree:
    if TRUTHS in (left.kind, right.kind):
        for value, other in ((left, right), (right, left)):
            if isinstance(value.tree, Number | Truth) and other.kind == TRUTHS:
                number = int(value.tree.value)
                if number in (0, 1):
                    return other.tree if number else negated(other.tree)
                return Truth(False)
    kind = kind_of_all([left, right])
    one, other_tree = as_kind(left, kind), as_kind(right, kind)
    known = Number | Word | Truth
    if isinstance(one, known) and isinstance(other_tree, known):
        return Truth(one == other_tree)
    return Infix("=", one, other_tree)


def contained(left: Typed, items: list[Typed]) -> Typed:
    """`left in (items)`"""
    if not items:
        return truth(False)
    if len(items) == 1:
        return compared("==", left, items[0])
    kind = kind_of_all([left, *items])
    trees = tuple(dict.fromkeys(as_kind(item, kind) for item in items))
    one = as_kind(left, kind)
    known = Number | Word | Truth
    if isinstance(one, known) and all(isinstance(tree, known) for tree in trees):
        return truth(one in trees)
    return Typed(Infix(r"\in", one, Collection(trees, ordered=False)), TRUTHS)


def either(test: Tree, then: Typed, otherwise: Typed) -> Typed:
    """One of two values, of the kind that both can be written as."""
    kind = kind_of_all([then, otherwise])
    return Typed(chosen(test, as_kind(then, kind), as_kind(otherwise, kind)), kind)
