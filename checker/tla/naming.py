"""Names of a module: those of the model, unless TLA+ or something else has them already."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from waterline.checker.tla.forming import map_tree
from waterline.checker.tla.tree import (
    Atom,
    Definition,
    Filter,
    Image,
    Let,
    Local,
    Mapped,
    Quantified,
    Tree,
)

_OF_TLA = """
ACTION ASSUME ASSUMPTION AXIOM BOOLEAN BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS
DOMAIN ELSE ENABLED EXCEPT EXTENDS FALSE HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW
OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE SF_ STATE STRING SUBSET
SUFFICES TAKE TEMPORAL THEN THEOREM TRUE UNCHANGED UNION USE VARIABLE VARIABLES WF_ WITH WITNESS
"""
_OF_TLC = """
ACTION_CONSTRAINT ACTION_CONSTRAINTS ALIAS CHECK_DEADLOCK CONSTRAINT CONSTRAINTS INIT INVARIANT
INVARIANTS NEXT POSTCONDITION PROPERTIES PROPERTY SPECIFICATION SYMMETRY TYPE TYPE_CONSTRAINT VIEW
"""
_OF_MODULES = "Int Nat Cardinality IsFiniteSet"
RESERVED = frozenset((_OF_TLA + _OF_TLC + _OF_MODULES).split())
"""Words of TLA+ and of TLC's configuration, and names of the modules that are extended."""


@dataclass(slots=True)
class Naming:
    """Gives each thing of a module a name of its own.

    `renamed` has those that could not keep theirs: the new name and what it stands for.
    """

    taken: set[str] = field(default_factory=lambda: set(RESERVED))
    renamed: list[tuple[str, str]] = field(default_factory=list)

    def top(self, name: str) -> Atom:
        """A name of the module like this one."""
        wanted = plain(name)
        found = wanted
        number = 1
        while found in self.taken:
            found = f"{wanted}_{number}"
            number += 1
        self.taken.add(found)
        if found != name:
            self.renamed.append((found, name))
        return Atom(found)

    def resolve(self, tree: Tree, parameters: Iterable[Local] = ()) -> tuple[list[str], Tree]:
        """A definition's parameters and value, with names for all that it binds."""
        names: dict[Local, Atom] = {}
        for parameter in parameters:
            names[parameter] = self._fresh(parameter, names)
        return [atom.name for atom in names.values()], self._name(tree, names)

    def _fresh(self, local: Local, names: dict[Local, Atom]) -> Atom:
        used = {atom.name for atom in names.values()}
        wanted = found = plain(local.base)
        number = 1
        while found in self.taken or found in used:
            found = f"{wanted}_{number}"
            number += 1
        return Atom(found)

    def _name(self, tree: Any, names: dict[Local, Atom]) -> Any:
        match tree:
            case Local():
                return names[tree]
            case Quantified() | Mapped() | Filter() | Image():
                inner = {**names, tree.variable: self._fresh(tree.variable, names)}
                bound: Any = inner[tree.variable]
                return replace(
                    tree,
                    variable=bound,
                    domain=self._name(tree.domain, names),
                    body=self._name(tree.body, inner),
                )
            case Let():
                return self._let(tree, names)
        return map_tree(tree, lambda part: self._name(part, names))

    def _let(self, tree: Let, names: dict[Local, Atom]) -> Let:
        names = dict(names)
        found = []
        for each in tree.definitions:
            atom = self._fresh(each.name, names)
            if each.recursive:
                names[each.name] = atom
            inner = {**names, each.name: atom}
            for parameter in each.parameters:
                inner[parameter] = self._fresh(parameter, inner)
            parameters: Any = tuple(inner[parameter] for parameter in each.parameters)
            value = self._name(each.value, inner)
            named: Any = atom
            found.append(Definition(named, parameters, value, each.kept, each.recursive))
            names[each.name] = atom
        return Let(tuple(found), self._name(tree.body, names))


def plain(name: str) -> str:
    """A name as TLA+ may have one: letters, digits and _, and what is fairness to it is not."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    if found.startswith("__"):  # what reading the file has made
        found = found.strip("_")
    if found.startswith(("WF_", "SF_")) or not re.search("[A-Za-z]", found):
        found = f"x_{found}"
    return found


def camel(name: str) -> str:
    """`time_out` as `TimeOut`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) or name


def comment(text: str, indent: int = 0) -> list[str]:
    r"""The lines of a text, each after `\*`."""
    lines = text.strip().splitlines()
    return [f"{' ' * indent}\\* {line}".rstrip() for line in lines]
