r"""Arithmetic and comparisons as TLA+ has them, with Python's meaning.

`//` rounds down and `%` has the divisor's sign in Python. TLA+'s `\div` rounds down, and its `%`
takes a positive divisor alone: for others there is an operator of the module's own, as for bits.
"""

from __future__ import annotations

from waterline.checker.compiler.ir import OPERATIONS
from waterline.checker.tla.forming import (
    both,
    choose,
    join,
    let,
    minus,
    negate,
    plus,
    union,
    without,
)
from waterline.checker.tla.kinds import (
    MEMBERS,
    TRUTHS,
    WHOLE,
    Members,
    Typed,
    as_kind,
    kind_of_all,
    shift,
    truth,
    whole,
)
from waterline.checker.tla.program import Program
from waterline.checker.tla.tree import (
    Apply,
    Atom,
    Collection,
    Filter,
    If,
    Image,
    Infix,
    Let,
    Minus,
    Number,
    Quantified,
    Tree,
    Truth,
    Word,
)

_COMPARISONS = {"==": "=", "!=": "#", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_BITS = {"&": "BitAnd", "|": "BitOr", "^": "BitXor"}


def operate(program: Program, operator: str, left: Typed, right: Typed) -> Typed:
    """`left operator right`, of two numbers."""
    if operator in _BITS and left.kind == right.kind == TRUTHS:
        return _of_truths(operator, left.tree, right.tree)
    if operator in _BITS and any(isinstance(each.kind, Members) for each in (left, right)):
        found = _of_members(operator, left, right)
        if found is not None:
            return found
    if operator == ">>" and isinstance(left.kind, Members) and not left.kind.others:
        return _from(program, left.tree, left.kind, as_kind(right, WHOLE))
    one, other = as_kind(left, WHOLE), as_kind(right, WHOLE)
    is_bit = not isinstance(other, Number) or other.value < 0
    if operator == "<<" and one == Number(1) and is_bit:
        return Typed(Collection((other,), ordered=False), MEMBERS)
    if operator == "-" and left.kind == MEMBERS and other == Number(1):
        match left.tree:
            case Collection(items=(count,)):  # (1 << count) - 1 are all numbers below
                return Typed(program.below(count), MEMBERS)
    return Typed(_operate(program, operator, one, other), WHOLE)


def _of_members(operator: str, left: Typed, right: Typed) -> Typed | None:
    """An operation on sets; None where one of them is the set of all others."""
    if isinstance(left.kind, Members) and left.kind.others:
        return None
    kind = left.kind if isinstance(left.kind, Members) else MEMBERS
    if isinstance(right.kind, Members):
        kind = Members(first=max(kind.first, right.kind.first))
    one = as_kind(left, kind)
    if isinstance(right.kind, Members) and right.kind.others:
        others = shift(right.tree, kind.first - right.kind.first)
        return Typed(without(one, others), kind) if operator == "&" else None
    other = as_kind(right, kind)
    if operator == "^":
        return Typed(union(without(one, other), without(other, one)), kind)
    return Typed((union if operator == "|" else both)(one, other), kind)


def _from(program: Program, members: Tree, kind: Members, bits: Tree) -> Typed:
    """The members from one on, less so much."""
    member = program.counter("member")
    some = Filter(member, members, Infix(">=", member, plus(bits, Number(kind.first))))
    return Typed(Image(member, some, minus(member, bits)), kind)


def _of_truths(operator: str, left: Tree, right: Tree) -> Typed:
    if operator == "^":
        return Typed(Infix("#", left, right), TRUTHS)
    return Typed(join("/\\" if operator == "&" else "\\/", left, right), TRUTHS)


def _operate(  # noqa: PLR0911 - one for each operator
    program: Program, operator: str, left: Tree, right: Tree
) -> Tree:
    match operator, left, right:
        case "+", _, _:
            return plus(left, right)
        case "-", _, _:
            return minus(left, right)
        case _, Number(value=one), Number(value=other) if _is_defined(operator, one, other):
            return Number(OPERATIONS[operator](one, other))
        case "*", _, _:
            return Infix("*", left, right)
        case "//", _, _:
            return Infix(r"\div", left, right)
        case "%", _, _:
            divisor = program.value_of(right)
            if divisor is not None and divisor > 0:
                return Infix("%", left, right)
            return Apply(program.helper("Modulo"), (left, right))
        case "<<", _, Number(value=bits) if bits >= 0:
            return Infix("*", left, Number(1 << bits))
        case ">>", _, Number(value=bits) if bits >= 0:
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


def invert(operand: Typed) -> Typed:
    """`~operand`, which is -1 less it."""
    if isinstance(operand.kind, Members) and not operand.kind.others:
        return Typed(operand.tree, Members(others=True, first=operand.kind.first))
    return Typed(minus(Number(-1), as_kind(operand, WHOLE)), WHOLE)


def bits_of(program: Program, operand: Typed) -> Typed:
    """`operand.bit_count()`"""
    if isinstance(operand.kind, Members) and not operand.kind.others:
        if isinstance(operand.tree, Collection) and len(operand.tree.items) < 2:
            return whole(len(operand.tree.items))
        program.library.add("Cardinality")
        return Typed(Apply(Atom("Cardinality"), (operand.tree,)), WHOLE)
    tree = as_kind(operand, WHOLE)
    if isinstance(tree, Number):
        return whole(tree.value.bit_count())
    return Typed(Apply(program.helper("BitCount"), (tree,)), WHOLE)


def call_builtin(  # noqa: PLR0911 - one for each
    program: Program, name: str, given: list[Typed]
) -> Typed | None:
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
        case "int", [Typed(kind=Members()) as operand]:
            return operand
        case "int", [operand]:
            return Typed(as_kind(operand, WHOLE), WHOLE)
        case "bool", [operand]:
            return Typed(as_kind(operand, TRUTHS), TRUTHS)
    return None


def _extreme(program: Program, name: str, left: Tree, right: Tree) -> Tree:
    if isinstance(left, Number) and isinstance(right, Number):
        return Number((min if name == "min" else max)(left.value, right.value))
    return Apply(program.helper(name.capitalize()), (left, right))


def compare(operator: str, left: Typed, right: Typed) -> Typed:
    """`left operator right`, a truth."""
    sign = _COMPARISONS[operator]
    if sign in ("=", "#"):
        return Typed(_same(left, right) if sign == "=" else negate(_same(left, right)), TRUTHS)
    one, other = as_kind(left, WHOLE), as_kind(right, WHOLE)
    if isinstance(one, Number) and isinstance(other, Number):
        holds = {"<": one.value < other.value, "<=": one.value <= other.value}
        holds |= {">": one.value > other.value, ">=": one.value >= other.value}
        return truth(holds[sign])
    return Typed(Infix(sign, one, other), TRUTHS)


def _same(left: Typed, right: Typed) -> Tree:  # noqa: PLR0911 - one for each form
    if TRUTHS in (left.kind, right.kind):
        for value, other in ((left, right), (right, left)):
            if isinstance(value.tree, Number | Truth) and other.kind == TRUTHS:
                number = int(value.tree.value)
                if number in (0, 1):
                    return other.tree if number else negate(other.tree)
                return Truth(False)
    for value, other in ((left, right), (right, left)):
        if isinstance(value.tree, If) and value.kind == WHOLE and isinstance(other.tree, Number):
            ways = (Typed(way, WHOLE) for way in (value.tree.then, value.tree.otherwise))
            return choose(value.tree.test, *(_same(way, other) for way in ways))
        if isinstance(value.tree, Let) and isinstance(other.tree, Number):
            return let(value.tree.definitions, _same(Typed(value.tree.body, value.kind), other))
    kind = kind_of_all([left, right])
    one, other_tree = as_kind(left, kind), as_kind(right, kind)
    if other_tree == Collection((), ordered=False):
        return _is_empty(one)
    known = Number | Word | Truth
    if isinstance(one, known) and isinstance(other_tree, known):
        return Truth(one == other_tree)
    return Infix("=", one, other_tree)


def _is_empty(members: Tree) -> Tree:
    match members:
        case Image(domain=domain):
            return _is_empty(domain)
        case Filter(variable=variable, domain=domain, body=body):
            return Quantified(r"\A", variable, domain, negate(body))
        case Collection(items=items):
            return Truth(not items)
    return Infix("=", members, Collection((), ordered=False))


def contain(left: Typed, items: list[Typed]) -> Typed:
    """`left in (items)`"""
    if not items:
        return truth(False)
    if len(items) == 1:
        return compare("==", left, items[0])
    kind = kind_of_all([left, *items])
    trees = tuple(dict.fromkeys(as_kind(item, kind) for item in items))
    one = as_kind(left, kind)
    known = Number | Word | Truth
    if isinstance(one, known) and all(isinstance(tree, known) for tree in trees):
        return truth(one in trees)
    return Typed(Infix(r"\in", one, Collection(trees, ordered=False)), TRUTHS)


def either(test: Tree, then: Typed, otherwise: Typed) -> Typed:
    """Return one of two values, of the kind that both can be written as."""
    kind = kind_of_all([then, otherwise])
    return Typed(choose(test, as_kind(then, kind), as_kind(otherwise, kind)), kind)
