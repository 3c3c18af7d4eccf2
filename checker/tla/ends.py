"""Ends of statements: shared by the parts of the exporter that follow statements.

`Following` follows the statements of one function, as loops see it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from waterline.checker.compiler import ir
from waterline.checker.tla.environment import Environment
from waterline.checker.tla.expressions import Expressions
from waterline.checker.tla.forming import everything_in, map_tree
from waterline.checker.tla.kinds import Typed, as_kind, kind_of_all, whole
from waterline.checker.tla.tree import Outcome, Tree


@dataclass(frozen=True, slots=True)
class Ends:
    """Continuations of statements: at their end, at a `return`, `break` or `continue`."""

    fell: Callable[[Environment], Tree]
    returned: Callable[[Environment, Typed | None], Tree]
    broke: Callable[[Environment], Tree] | None = None
    continued: Callable[[Environment], Tree] | None = None


class Following(Protocol):
    """Follows the statements of one function."""

    @property
    def expressions(self) -> Expressions:
        """The function's."""

    def run(self, block: Sequence[ir.Statement], at: Environment, ends: Ends) -> Tree:
        """Return the statements as one expression."""

    def follow_all(self, block: Sequence[ir.Statement], at: Environment) -> None:
        """Follow statements that do not end the function."""

    def name_value(self, base: str, value: Typed, at: Environment, *, kept: bool) -> Typed:
        """The value under a name of its own, unless it is as short as one."""

    def turns(self, node: ir.For | ir.While, at: Environment) -> Any:
        """The loop turn by turn: `checker.tla.turns.Turns`."""

    def keeps(self) -> bool:
        """True if variables are those that the model names, and not ones that reading it made."""

    def set_field(self, name: str, path: tuple[Tree, ...], tree: Tree, at: Environment) -> None:
        """Give an element of a field another value."""


def leaves(node: ir.Statement) -> bool:
    """True if a statement may end the function, or the turn of a loop around it."""
    match node:
        case ir.Return() | ir.Break() | ir.Continue():
            return True
        case ir.If(then=then, otherwise=otherwise):
            return any(map(leaves, (*then, *otherwise)))
        case ir.For() | ir.While():
            return any(map(returns, node.body))
    return False


def returns(node: ir.Statement) -> bool:
    """True if a statement may end the function."""
    match node:
        case ir.Return():
            return True
        case ir.If(then=then, otherwise=otherwise):
            return any(map(returns, (*then, *otherwise)))
        case ir.For() | ir.While():
            return any(map(returns, node.body))
    return False


def outcomes(tree: Tree) -> list[Outcome]:
    """Where an expression ends."""
    return [each for each in everything_in(tree) if isinstance(each, Outcome)]


def resolve(tree: Tree, make: Callable[[Outcome], Tree]) -> Tree:
    """The expression with what is made of each of its ends."""
    if isinstance(tree, Outcome):
        return make(tree)
    found: Tree = map_tree(tree, lambda part: resolve(part, make))
    return found


def value_of(tree: Tree) -> Typed:
    """Return a function's value, wherever it returns."""
    found = [outcome.value for outcome in outcomes(tree)]
    kind = kind_of_all([value or whole(0) for value in found])
    return Typed(resolve(tree, lambda end: as_kind(end.value or whole(0), kind)), kind)
