"""Intermediate representation of a rule: the few kinds of statements and expressions that it has.

`checker.compiler.lower` makes it of Python's syntax tree. Code generation knows these nodes alone,
and no more of Python than they say. Operators are written as Python writes them.
"""

from __future__ import annotations

import ast
import operator
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
"""Operators of two numbers, and what they compute."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A place in a rule. `origin` is its Python syntax, with its line and its words."""

    origin: ast.stmt | ast.expr = field(repr=False)

    @property
    def line(self) -> int:
        """Its line in the file."""
        return self.origin.lineno

    @property
    def text(self) -> str:
        """Its source text, for messages."""
        return ast.unparse(self.origin)


@dataclass(frozen=True, slots=True, eq=False)
class Refused(Node):
    """An expression without a compiled form, and its replacement: an error once it is reached.

    `after` is compiled before it, so that errors there are reported first.
    """

    what: str
    instead: str
    after: tuple[Expression, ...] = ()


# --- expressions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Node):
    """A whole number or a truth that is written there."""

    value: int


@dataclass(frozen=True, slots=True, eq=False)
class Name(Node):
    """A variable of the function, or else a name of its module or of Python."""

    name: str
    is_variable: bool


@dataclass(frozen=True, slots=True, eq=False)
class Attribute(Node):
    """`owner.name`"""

    owner: Expression
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Element(Node):
    """`owner[index]`, where the index may be a `Tuple`."""

    owner: Expression
    index: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """`function(arguments, name=value)`; a name is None for what came after `**`."""

    function: Expression
    arguments: tuple[Expression, ...]
    named: tuple[tuple[str | None, Expression], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Operation(Node):
    """`left operator right`, of two numbers."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Node):
    """`not`, `-`, `+` or `~` of a number, or its `bit_count`."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Node):
    """`left operator right`, a truth."""

    left: Expression
    operator: str
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Chain(Node):
    """`a < b <= c`: between its operands one operator each; it ends at the first link not true."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Contained(Node):
    """`left in among`, or `left not in among`."""

    left: Expression
    among: Expression
    negated: bool


@dataclass(frozen=True, slots=True, eq=False)
class Both(Node):
    """`a and b and ...`"""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Either(Node):
    """`a or b or ...`"""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Node):
    """`then if test else otherwise`"""

    test: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Tuple(Node):
    """`a, b`; after `in` also a list or a set."""

    items: tuple[Expression, ...]


Expression = (
    Name
    | Attribute
    | Element
    | Constant
    | Call
    | Operation
    | Unary
    | Comparison
    | Chain
    | Contained
    | Both
    | Either
    | Choice
    | Tuple
    | Refused
)

# --- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Node):
    """`target = ... = value`; a target is a name, an attribute, an element or a tuple of these."""

    targets: tuple[Expression, ...]
    value: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Update(Node):
    """`target operator= value`"""

    target: Expression
    operator: str
    value: Expression


@dataclass(frozen=True, slots=True, eq=False)
class If(Node):
    """`if` with its `else`; an `elif` is an `If` in the latter."""

    test: Expression
    then: Block
    otherwise: Block


@dataclass(frozen=True, slots=True, eq=False)
class While(Node):
    """`while test`"""

    test: Expression
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class For(Node):
    """`for counter in function(bounds)`, where the function must turn out to be `range`."""

    counter: Name
    function: Expression
    bounds: tuple[Expression, ...]
    body: Block


@dataclass(frozen=True, slots=True, eq=False)
class Return(Node):
    """`return`, with or without a value."""

    value: Expression | None


@dataclass(frozen=True, slots=True, eq=False)
class Break(Node):
    """`break`"""


@dataclass(frozen=True, slots=True, eq=False)
class Continue(Node):
    """`continue`"""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluate(Node):
    """A call for what it does."""

    call: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Pass(Node):
    """`pass`"""


Statement = (
    Assign | Update | If | While | For | Return | Break | Continue | Evaluate | Pass | Refused
)
Block = tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Function(Node):
    """A whole rule."""

    parameters: tuple[str, ...]
    body: Block

    def statements(self) -> Iterator[Statement]:
        """All its statements: of two, the one that fewer others are around comes first."""
        waiting = deque(self.body)
        while waiting:
            statement = waiting.popleft()
            yield statement
            match statement:
                case If(then=then, otherwise=otherwise):
                    waiting += (*then, *otherwise)
                case For(body=body) | While(body=body):
                    waiting += body
