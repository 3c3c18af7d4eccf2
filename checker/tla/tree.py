"""Trees of TLA+ expressions; `checker.tla.forming` makes them, and keeps them short.

Names that an expression binds are `Local`s, each with a number of its own; `checker.tla.naming`
gives them their names at the end, when it is known which are taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Atom:
    """A name of the module."""

    name: str


@dataclass(frozen=True, slots=True)
class Local:
    """A name that is bound within an expression: `base`, or the like."""

    base: str
    number: int


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number, which the module may have a name for."""

    value: int
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Truth:
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True)
class Word:
    """A string."""

    text: str


@dataclass(frozen=True, slots=True)
class Apply:
    """`operator(arguments)`"""

    operator: Atom | Local
    arguments: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Element:
    """`function[index]`"""

    function: Tree
    index: Tree


@dataclass(frozen=True, slots=True)
class Member:
    """`record.name`"""

    record: Tree
    name: str


@dataclass(frozen=True, slots=True)
class Infix:
    """`left operator right`"""

    operator: str
    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Minus:
    """`-operand`"""

    operand: Tree


@dataclass(frozen=True, slots=True)
class Not:
    """`~operand`"""

    operand: Tree


@dataclass(frozen=True, slots=True)
class Junction:
    r"""A list of `/\` or `\/`, of two items or more."""

    operator: str
    items: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class If:
    """`IF test THEN then ELSE otherwise`"""

    test: Tree
    then: Tree
    otherwise: Tree


@dataclass(frozen=True, slots=True)
class Definition:
    """`name(parameters) == value` in a LET. What the model names itself is to be `kept`."""

    name: Local
    parameters: tuple[Local, ...]
    value: Tree
    kept: bool = False
    recursive: bool = False


@dataclass(frozen=True, slots=True)
class Let:
    """`LET definitions IN body`"""

    definitions: tuple[Definition, ...]
    body: Tree


@dataclass(frozen=True, slots=True)
class Quantified:
    r"""`\A variable \in domain : body`, or `\E`."""

    quantifier: str
    variable: Local
    domain: Tree
    body: Tree


@dataclass(frozen=True, slots=True)
class Mapped:
    r"""`[variable \in domain |-> body]`"""

    variable: Local
    domain: Tree
    body: Tree


@dataclass(frozen=True, slots=True)
class Filter:
    r"""`{variable \in domain : body}`"""

    variable: Local
    domain: Tree
    body: Tree


@dataclass(frozen=True, slots=True)
class Image:
    r"""`{body : variable \in domain}`"""

    variable: Local
    domain: Tree
    body: Tree


@dataclass(frozen=True, slots=True)
class Label:
    """A member of a record, in the path to what is changed of it: `!.name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Change:
    """`![path] = value`; the path has an index for each dimension."""

    path: tuple[Tree, ...]
    value: Tree


@dataclass(frozen=True, slots=True)
class Except:
    """`[function EXCEPT changes]`"""

    function: Tree
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Functions:
    """`[domain -> range]`"""

    domain: Tree
    range: Tree


@dataclass(frozen=True, slots=True)
class Subsets:
    """`SUBSET domain`"""

    domain: Tree


@dataclass(frozen=True, slots=True)
class Collection:
    """`{items}`, or `<<items>>`."""

    items: tuple[Tree, ...]
    ordered: bool


@dataclass(frozen=True, slots=True)
class Record:
    """`[name |-> value, ...]`"""

    members: tuple[tuple[str, Tree], ...]


@dataclass(frozen=True, slots=True)
class Records:
    """`[name : values, ...]`"""

    members: tuple[tuple[str, Tree], ...]


@dataclass(frozen=True, slots=True)
class Primed:
    """`operand'`"""

    operand: Tree


@dataclass(frozen=True, slots=True)
class Unchanged:
    """`UNCHANGED <<names>>`"""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """A temporal operator and its operands, as `left ~> right` or `<>operand`."""

    operator: str
    operands: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where a rule ends: what it returns, if anything, and what it has changed.

    No expression of TLA+, but what stands for one until it is known how all of them end.
    """

    value: Any
    changed: tuple[tuple[Any, Any], ...] = ()


Tree = (
    Atom
    | Local
    | Number
    | Truth
    | Word
    | Apply
    | Element
    | Member
    | Infix
    | Minus
    | Not
    | Junction
    | If
    | Let
    | Quantified
    | Mapped
    | Filter
    | Image
    | Label
    | Except
    | Functions
    | Subsets
    | Collection
    | Record
    | Records
    | Primed
    | Unchanged
    | Formula
    | Outcome
)
UNREACHABLE = Atom("unreachable")
"""Placeholder for the end of a path that no state takes."""
ATOMIC = Atom | Local | Number | Truth | Word
