r"""Sets, queues, logs and structs as TLA+'s own sets, sequences and records.

A rule that is read from a file has numbers for sets, a bit for each member, rows of places for
queues and logs, and one number for a struct, whose digits are the parts. What it does with them are
calls of functions that reading it has written, each with its operation
(`model.core.made.operation_of`). Here these calls become `\in`, `Append`, `vote.term` and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from waterline.checker.compiler.source import Source
from waterline.checker.tla import arithmetic
from waterline.checker.tla.environment import Environment, Role, StateOf, Value
from waterline.checker.tla.expressions import Expressions
from waterline.checker.tla.forming import join, member, plus, with_change
from waterline.checker.tla.kinds import (
    MEMBERS,
    TRUTHS,
    WHOLE,
    Kind,
    Records,
    Sequences,
    Typed,
    as_kind,
    of_field,
)
from waterline.checker.tla.naming import Naming
from waterline.checker.tla.program import Program
from waterline.checker.tla.text import flat
from waterline.checker.tla.tree import (
    Apply,
    Atom,
    Collection,
    Element,
    Infix,
    Local,
    Member,
    Number,
    Quantified,
    Record,
    Tree,
)
from waterline.model.core.made import operation_of
from waterline.model.own.fields import Choice, Struct

_OF_SETS = {"has_member", "with_member", "without_member", "is_subset", "is_proper_subset"}
_EMPTY = Collection((), ordered=True)


class Held(NamedTuple):
    """A sequence in a state: its field, and where it is."""

    field: str
    role: Role
    path: tuple[Tree, ...]


def call_container(
    caller: Expressions, callee: Source, given: list[Value], at: Environment
) -> Value | None:
    """Return the result of such a call, after its writes; None for any other function."""
    operation = operation_of(callee.tree)
    if operation is None:
        return None
    name, of = operation
    typed = [value for value in given if isinstance(value, Typed)]
    match of:
        case ():
            return _of_set(name, *typed) if name in _OF_SETS else None
        case (struct, *part) if name in ("make", "part"):
            return _of_struct(caller.program.records[struct], part, typed)
        case (field,) if isinstance(caller.program.fields[field].kind, Sequences):
            return _of_one(caller, name, field, given, at)
        case (one, other):
            return _of_two(caller, name, (one, other), given, at)
    return None


# --- sets ----------------------------------------------------------------------------------------


def _of_set(  # noqa: PLR0911 - one for each operation
    operation: str, members: Typed, other: Typed
) -> Typed:
    found = as_kind(members, MEMBERS)
    member = Collection((as_kind(other, WHOLE),), ordered=False)
    match operation:
        case "has_member":
            return Typed(Infix(r"\in", as_kind(other, WHOLE), found), TRUTHS)
        case "with_member":
            if found == Collection((), ordered=False):
                return Typed(member, MEMBERS)
            if isinstance(found, Collection):
                return Typed(Collection((*found.items, *member.items), ordered=False), MEMBERS)
            return Typed(Infix(r"\union", found, member), MEMBERS)
        case "without_member":
            return Typed(Infix("\\", found, member), MEMBERS)
    others = as_kind(other, MEMBERS)
    subset = Infix(r"\subseteq", found, others)
    if operation == "is_subset":
        return Typed(subset, TRUTHS)
    return Typed(join("/\\", subset, Infix("#", found, others)), TRUTHS)


# --- sequences -----------------------------------------------------------------------------------


def _sequence_of(program: Program, name: str, given: list[Value]) -> tuple[Held, list[Value]]:
    """The sequence that the first arguments name, and the others."""
    state, *others = given
    assert isinstance(state, StateOf)
    count = len(program.fields[name].domains)
    path = tuple(as_kind(index, WHOLE) for index in others[:count] if isinstance(index, Typed))
    return Held(name, state.role, path), others[count:]


def _read(caller: Expressions, held: Held, at: Environment) -> Typed:
    return caller.read(held.role, held.field, held.path, at)


def _write(caller: Expressions, held: Held, value: Tree, at: Environment) -> None:
    if at.levels:
        at.set_cell(held.field, held.path, value)
        return
    whole = at.fields[Role.NOW, held.field]
    local = caller.program.local(held.field)
    at.define(local, with_change(whole, held.path, value) if held.path else value)
    at.fields[Role.NOW, held.field] = local


def _length(sequence: Tree) -> Tree:
    return Apply(Atom("Len"), (sequence,))


def _of_one(  # noqa: PLR0911 - one for each operation
    caller: Expressions, operation: str, name: str, given: list[Value], at: Environment
) -> Value:
    held, others = _sequence_of(caller.program, name, given)
    arguments = [value for value in others if isinstance(value, Typed)]
    before = _read(caller, held, at)
    kind = before.kind
    assert isinstance(kind, Sequences)
    sequence = before.tree
    match operation, arguments:
        case "length", []:
            return Typed(_length(sequence), WHOLE)
        case "is_full", []:
            return Typed(Infix(">=", _length(sequence), Number(kind.room)), TRUTHS)
        case "at", [place]:
            return Typed(Element(sequence, _place(caller.program, sequence, place)), kind.values)
        case "put", [place, value]:
            path = (_place(caller.program, sequence, place),)
            _write(caller, held, with_change(sequence, path, as_kind(value, kind.values)), at)
        case "add", [value] if kind.is_bag:
            inserted = (_order(caller.program, kind), sequence, as_kind(value, kind.values))
            _write(caller, held, Apply(caller.program.helper("Inserted"), inserted), at)
        case "remove", [value]:
            left = (sequence, as_kind(value, kind.values))
            _write(caller, held, Apply(caller.program.helper("Without"), left), at)
        case "count", [value]:
            caller.program.library.add("Cardinality")
            asked = (sequence, as_kind(value, kind.values))
            return Typed(Apply(caller.program.helper("CountOf"), asked), WHOLE)
        case "add", [value]:
            added = (sequence, as_kind(value, kind.values))
            _write(caller, held, Apply(Atom("Append"), added), at)
        case "receive", []:
            _write(caller, held, Apply(Atom("Tail"), (sequence,)), at)
            return Typed(Apply(Atom("Head"), (sequence,)), kind.values)
        case "truncate", [count]:
            _write(caller, held, _first(caller.program, sequence, count, kind), at)
        case "contains", [value]:
            place_of = caller.program.counter("place")
            same = arithmetic.compare("==", Typed(Element(sequence, place_of), kind.values), value)
            domain = Infix("..", Number(1), _length(sequence))
            return Typed(Quantified(r"\E", place_of, domain, same.tree), TRUTHS)
        case _:
            raise AssertionError(f"{operation} of {name} has no form in TLA+")
    return Typed(Number(0), WHOLE)  # It writes, and returns nothing.


def _order(program: Program, kind: Sequences) -> Tree:
    """Return the operator that orders the values of a bag: by the numbers that encode them."""
    return kind.values.number if isinstance(kind.values, Records) else program.helper("Itself")


def _place(program: Program, sequence: Tree, place: Typed) -> Tree:
    """TLA+ counts from 1; a place below 0 counts from the end."""
    tree = as_kind(place, WHOLE)
    if isinstance(tree, Number) and tree.value < 0:
        return plus(_length(sequence), Number(tree.value + 1))
    if isinstance(tree, Number) or (isinstance(tree, Local) and tree in program.naturals):
        return plus(tree, Number(1))
    return Apply(program.helper("PlaceIn"), (sequence, tree))


def _first(program: Program, sequence: Tree, count: Typed, kind: Sequences) -> Tree:
    """The first values of a sequence, so many."""
    tree = as_kind(count, WHOLE)
    if tree == Number(0):
        return _EMPTY
    if isinstance(tree, Number) and tree.value >= kind.room:
        return sequence
    return Apply(program.helper("First"), (sequence, tree))


def _of_two(
    caller: Expressions,
    operation: str,
    names: tuple[str, str],
    given: list[Value],
    at: Environment,
) -> Value:
    program = caller.program
    one, others = _sequence_of(program, names[0], given)
    ends: list[Value] = []
    if operation == "same":
        ends.append(others.pop(0))
    other, last = _sequence_of(program, names[1], others)
    found = []
    for held, end in zip((one, other), [*ends, *last] if ends else [None, *last], strict=True):
        before = _read(caller, held, at)
        assert isinstance(before.kind, Sequences)
        tree = before.tree
        if isinstance(end, Typed):
            tree = _first(program, tree, end, before.kind)
        found.append(tree)
    if operation == "same":
        return Typed(Infix("=", *found), TRUTHS)
    _write(caller, one, found[1], at)
    return Typed(Number(0), WHOLE)


def records_of(
    struct: Struct[Any],
    listed: Mapping[tuple[str, ...], Atom],
    sorts: Mapping[str, Atom],
    naming: Naming,
) -> tuple[Records, list[str]]:
    """The kind of a struct's records; and the lines that define all of them, and their order.

    `listed` are the tuples of words that there are in the module.
    """
    parts: list[tuple[str, Kind, int, int]] = []
    sets: list[str] = []
    each = naming.top("struct").name
    number: Tree = Number(0)
    for (name, part), size in zip(struct.parts, struct.sizes, strict=True):
        words = listed.get(part.values, Atom("")) if isinstance(part, Choice) else Atom("")
        kind, values = of_field(part, *part.range, words, sorts)
        parts.append((name, kind, part.range[0], size))
        sets.append(f"{name}: {flat(values)}")
        digit = as_kind(Typed(Member(Atom(each), name), kind), WHOLE)
        digit = plus(digit, Number(-part.range[0])) if part.range[0] else digit
        number = digit if number == Number(0) else plus(Infix("*", number, Number(size)), digit)
    found = Records(
        struct.name,
        tuple(parts),
        naming.top(f"{struct.name}Structs"),
        naming.top(f"NumberOf{struct.name}"),
    )
    return found, [
        f"{found.all.name} ==",
        f"  [{', '.join(sets)}]",
        f"{found.number.name}({each}) ==",
        f"  {flat(number)}",
    ]


def _of_struct(kind: Records, part: Sequence[str], given: Sequence[Typed]) -> Typed:
    """Return the struct with these parts; or the part of the given struct that has this name."""
    if not part:
        values = zip(kind.parts, given, strict=True)
        made = tuple((of[0], as_kind(value, of[1])) for of, value in values)
        return Typed(Record(made), kind)
    (name,), (struct,) = part, given
    (of_part,) = (of for each, of, _, _ in kind.parts if each == name)
    return Typed(member(as_kind(struct, kind), name), of_part)
