"""Removal of needless definitions, for a text that reads like one written by hand.

A definition that is used once, or is as short as its name, is inlined; a name from the model itself
is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from waterline.checker.tla.forming import everything_in, let, map_tree, subtrees, with_change
from waterline.checker.tla.program import Program
from waterline.checker.tla.tree import (
    ATOMIC,
    Definition,
    Element,
    Except,
    Filter,
    Image,
    Let,
    Local,
    Mapped,
    Quantified,
    Tree,
)


def tidy(tree: Any) -> Any:
    """Return the same expression with fewer definitions."""
    while True:
        uses: Counter[Local] = Counter()
        _count(tree, uses, repeated=False)
        written_to = {e.function for e in everything_in(tree) if isinstance(e, Except)}
        found = _Tidying(uses, written_to).tidy(tree, {})
        if found == tree:
            return found
        tree = found


def _count(tree: Any, uses: Counter[Local], *, repeated: bool) -> None:
    """How often each name is used; within what is done for many elements it counts as often."""
    match tree:
        case Local():
            uses[tree] += 2 if repeated else 1
        case Quantified() | Mapped() | Filter() | Image():
            _count(tree.domain, uses, repeated=repeated)
            _count(tree.body, uses, repeated=True)
        case Let():
            for each in tree.definitions:
                _count(each.value, uses, repeated=repeated or bool(each.parameters))
            _count(tree.body, uses, repeated=repeated)
        case _:
            for part in subtrees(tree):
                _count(part, uses, repeated=repeated)


class _Tidying:
    def __init__(self, uses: Counter[Local], written_to: set[Any]) -> None:
        self._uses = uses
        self._written_to = written_to

    def tidy(self, tree: Any, put: dict[Local, Tree]) -> Any:
        match tree:
            case Local():
                return put.get(tree, tree)
            case Let():
                return self._let(tree, put)
            case Except():
                found = map_tree(tree, lambda part: self.tidy(part, put))
                if isinstance(found.function, Except):
                    whole: Tree = found.function
                    for change in found.changes:
                        whole = with_change(whole, change.path, change.value)
                    return whole
                return found
        return map_tree(tree, lambda part: self.tidy(part, put))

    def _let(self, tree: Let, put: dict[Local, Tree]) -> Tree:
        put = dict(put)
        kept = []
        for each in tree.definitions:
            used = self._uses[each.name]
            value = self.tidy(each.value, put)
            plain = not each.parameters and not each.recursive
            short = isinstance(value, ATOMIC) if each.kept else used == 1 or _is_short(value)
            if each.name in self._written_to and not isinstance(value, ATOMIC | Except):
                short = False  # `[IF ... EXCEPT ...]` is hard to read
            if tree.body == each.name and each is tree.definitions[-1]:
                short = True  # `LET x == ... IN x`
            if plain and (used == 0 or short):
                put[each.name] = value
            elif used > 0:
                kept.append(
                    Definition(each.name, each.parameters, value, each.kept, each.recursive)
                )
        return let(kept, self.tidy(tree.body, put))


def _is_short(tree: Tree) -> bool:
    """True if it says no more than a name would."""
    return isinstance(tree, ATOMIC) or (
        isinstance(tree, Element)
        and isinstance(tree.function, ATOMIC)
        and isinstance(tree.index, ATOMIC)
    )


def own_copy(program: Program, definitions: Sequence[Definition], tree: Tree) -> Tree:
    """The expression with those of the definitions around it that it needs, under new names.

    Of several that share definitions each has its own, so that it is seen how often it uses them.
    """
    needed = {each for each in everything_in(tree) if isinstance(each, Local)}
    kept: list[Definition] = []
    for each in reversed(definitions):
        if each.name in needed:
            needed |= {part for part in everything_in(each.value) if isinstance(part, Local)}
            kept.insert(0, each)
    if not kept:
        return tree
    names = {each.name: program.local(each.name.base) for each in kept}
    names |= {p: program.local(p.base) for each in kept for p in each.parameters}
    found: Tree = _rename(let(kept, tree), names)
    return found


def _rename(tree: Any, names: dict[Local, Local]) -> Any:
    if isinstance(tree, Local):
        return names.get(tree, tree)
    return map_tree(tree, lambda part: _rename(part, names))
