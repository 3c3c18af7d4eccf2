"""Data sorts of a user model: the epochs and values in its fields and arguments.

An action first checks that an argument is an epoch and, within bounds, not above the highest.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from waterline.model.core.layout import Field
from waterline.model.core.sorts import DataSort, Held, Trusted
from waterline.model.own.fields import (
    NONE,
    AnyField,
    Container,
    Domain,
    Epoch,
    Epochs,
    Name,
    Opaque,
    PlainField,
    Set,
    plain_field,
)
from waterline.model.own.normal_form import Renamed
from waterline.model.own.syntax import on_line


def data_sort(sort: Epochs | Opaque) -> DataSort:
    """Return the sort as the sort check sees it: 0 is before all epochs, None is not a value."""
    if isinstance(sort, Epochs):
        fresh = f"take a new one as an argument, as in when({sort.name} > ...)"
        return DataSort(
            sort.name, none=0, none_word="0", ordered=True, size=sort.plural, fresh=fresh
        )
    return DataSort(sort.name, none=NONE, none_word="None", size=sort.plural)


def sort_in(declared: AnyField) -> Epochs | Opaque | None:
    """Return the sort of a field's elements, or of those of its sequence; None for none."""
    element = declared.element if isinstance(declared, Container) else declared
    match element:
        case Epoch(of=sort):
            return sort
        case Name(of=Opaque() as sort):
            return sort
    return None


def argument_of(name: str, domain: Domain) -> PlainField:
    """Return the field that holds an argument. An epoch may be 0 before it is checked."""
    return Epoch(name, domain) if isinstance(domain, Epochs) else plain_field(name, domain)


def held_by(declared: AnyField) -> Held | None:
    """Return the layout's sort of a field. A set has none: rules cannot use it without bounds."""
    sort = None if isinstance(declared, Set) else sort_in(declared)
    return None if sort is None else Held(data_sort(sort))


def renamed_sorts(
    fields: Sequence[AnyField], layout: Mapping[str, Field], takes: Sequence[Sequence[PlainField]]
) -> tuple[Renamed, ...]:
    """The sorts without bounds of a protocol's fields; `takes` are the arguments of each action."""
    sorts = dict.fromkeys(
        sort for each in (*fields, *(a for some in takes for a in some)) if (sort := sort_in(each))
    )
    return tuple(
        Renamed(
            sort,
            tuple(layout[field.name] for field in fields if sort_in(field) == sort),
            max((sum(sort_in(each) == sort for each in some) for some in takes), default=0),
        )
        for sort in sorts
    )


def trusted_in(sorts: Sequence[Renamed], function: Callable[[str], object]) -> tuple[Trusted, ...]:
    """The functions that say what an argument may be; `function` finds one by its name."""
    return tuple(
        Trusted(
            function=function(each.may_be),  # type: ignore[arg-type]  # one of those that were made
            takes={"one": Held(data_sort(each.sort))},
            why="of all new arguments that no rule can tell apart it leaves some, and of those "
            "that a state has, all",
        )
        for each in sorts
    )


@dataclass(frozen=True, slots=True)
class Arguments:
    """Checks of an action's arguments before its own `when`.

    `over` has a field for each argument. `limits` are all by name. `sorts` are those without
    bounds, empty within bounds.
    """

    over: Mapping[str, PlainField]
    limits: Sequence[str]
    sorts: Sequence[Renamed] = ()

    @property
    def are_cut(self) -> bool:
        """True if an argument can be above the highest epoch."""
        return not self.sorts and any(isinstance(each, Epoch) for each in self.over.values())

    def guard(self, tree: ast.FunctionDef) -> Iterator[ast.stmt]:
        """Yield the guard: an argument is an epoch, and without bounds stands for all its likes."""
        state = tree.args.args[0].arg
        for name, field in self.over.items():
            of = sum(sort_in(each) == sort_in(field) for each in self.over.values())
            renamed = next((each for each in self.sorts if each.sort == sort_in(field)), None)
            if renamed is not None:
                asked = f"not {renamed.may_be}({state}, {name}, {of})"
                yield from _statements(tree, f"if {asked}:\n    return False")
            elif isinstance(field, Epoch):
                yield from _statements(tree, f"if {name} < 1:\n    return False")

    def limit(self, tree: ast.FunctionDef) -> Iterator[ast.stmt]:
        """Yield the limit: no argument is above the highest epoch."""
        if not self.are_cut:
            return
        state = tree.args.args[0].arg
        for name, field in self.over.items():
            if isinstance(field, Epoch):
                number, highest = self.limits.index(field.of.plural), field.of.plural
                yield from _statements(tree, f"if {name} < 1:\n    return 0")
                text = f"if {name} > {state}.{highest}:\n    return {number}"
                yield from _statements(tree, text)


def _statements(tree: ast.FunctionDef, text: str) -> Iterator[ast.stmt]:
    """The statements of a text, on the line of a function."""
    for statement in ast.parse(text).body:
        yield on_line(statement, tree)
