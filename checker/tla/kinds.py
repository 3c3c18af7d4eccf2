"""Kinds of values, and how TLA+ writes the values of each kind of field.

Rules compute with numbers alone: a truth is 0 or 1, a word its place, None is -1. In the module a
truth is a BOOLEAN, a word a string, and a name a number, with None for -1. Where a rule takes one
for another it is converted. A field of a kind that is not known here is one of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.checker.tla.forming import choose, interval, minus, plus
from waterline.checker.tla.tree import (
    Apply,
    Atom,
    Collection,
    Element,
    If,
    Infix,
    Number,
    Record,
    Subsets,
    Tree,
    Truth,
    Word,
)
from waterline.model.own.fields import (
    NONE,
    AnyField,
    Choice,
    Flag,
    Name,
    SequenceField,
    Set,
    Value,
)

NONE_NAME = Atom("None")


@dataclass(frozen=True, slots=True)
class Whole:
    """Whole numbers."""


@dataclass(frozen=True, slots=True)
class Truths:
    """TRUE and FALSE."""


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a sort, or None: numbers from -1."""

    sort: str


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a field of choices; `listed` is the tuple of them in the module."""

    words: tuple[str, ...]
    listed: Atom


@dataclass(frozen=True, slots=True)
class Items:
    """Several values."""

    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Members:
    """Sets of numbers; `others` are those of all that are not in the set that is written.

    `first` is the member that the lowest bit stands for.
    """

    others: bool = False
    first: int = 0


@dataclass(frozen=True, slots=True)
class Records:
    """Structs. Of each part its name, its kind, the least number that it is kept as, and how many.

    `all` is the set of them in the module, `number` the operator that counts them.
    """

    name: str
    parts: tuple[tuple[str, Kind, int, int], ...]
    all: Atom
    number: Atom


@dataclass(frozen=True, slots=True)
class Sequences:
    """Sequences of values of a kind, at most `room` of them; in a bag the greatest is first."""

    values: Whole | Names | Words | Records
    room: int
    is_bag: bool = False


Kind = Whole | Truths | Names | Words | Items | Members | Records | Sequences
WHOLE, TRUTHS, MEMBERS = Whole(), Truths(), Members()


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression and the kind of its values."""

    tree: Tree
    kind: Kind


def whole(value: int) -> Typed:
    """A number that is known."""
    return Typed(Number(int(value)), WHOLE)


def truth(value: bool) -> Typed:
    """A truth that is known."""
    return Typed(Truth(bool(value)), TRUTHS)


def of_field(  # noqa: PLR0911 - one for each kind
    declared: AnyField | None,
    lo: int,
    hi: int,
    listed: Atom,
    sorts: Mapping[str, Atom],
    records: Mapping[str, Records] | None = None,
) -> tuple[Kind, Tree]:
    """The kind of a field's values, and the set of them.

    `listed` is the tuple of its words, `sorts` are the sets of names, `records` those of structs.
    """
    match declared:
        case Value(of=struct):
            found = (records or {})[struct.name]
            return found, found.all
        case Flag():
            return TRUTHS, Atom("BOOLEAN")
        case Choice(values=values):
            return Words(values, listed), Collection(tuple(map(Word, values)), ordered=False)
        case Name(of=sort, or_none=or_none):
            names = sorts[sort.name]
            if or_none:
                nobody = Collection((NONE_NAME,), ordered=False)
                return Names(sort.name), Infix(r"\union", nobody, names)
            return Names(sort.name), names
        case Set():
            if isinstance(declared.element, Value):
                return MEMBERS, Subsets(interval(Number(0), Number(declared.element.range[1])))
            _, among = of_field(declared.element, *declared.element.range, listed, sorts)
            if isinstance(declared.element, Choice):
                among = interval(Number(0), Number(declared.element.range[1]))
            return MEMBERS, Subsets(among)
        case SequenceField():
            held = declared.element
            kind, among = of_field(held, *held.range, listed, sorts, records)
            assert isinstance(kind, Whole | Names | Words | Records)
            up_to = (among, Number(declared.room))
            sequences = Sequences(kind, declared.room, declared.is_sorted)
            return sequences, Apply(Atom("SequencesUpTo"), up_to)
    return WHOLE, interval(Number(lo), Number(hi))


def as_kind(value: Typed, kind: Kind) -> Tree:  # noqa: PLR0911 - one for each kind
    """Convert a value to another kind."""
    if value.kind == kind:
        return value.tree
    if value.kind == WHOLE and isinstance(value.tree, If):
        test, *ways = value.tree.test, value.tree.then, value.tree.otherwise
        return choose(test, *(as_kind(Typed(way, WHOLE), kind) for way in ways))
    match kind:
        case Whole():
            return _as_whole(value)
        case Truths():
            return _as_truth(value)
        case Words(words=words, listed=listed):
            number = _as_whole(value)
            if isinstance(number, Number) and 0 <= number.value < len(words):
                return Word(words[number.value])
            return Element(listed, plus(number, Number(1)))
        case Names():
            number = _as_whole(value)
            return NONE_NAME if number == Number(NONE) else number
        case Records():
            return _as_record(_as_whole(value), kind)
        case Members(first=first):
            if isinstance(value.kind, Members):
                return shift(value.tree, first - value.kind.first)
            return shift(_as_members(value), first)
        case Sequences():
            return Collection((), ordered=True)  # only an initial value is a number
        case Items(kinds=kinds) if isinstance(value.kind, Items):
            return Collection(
                tuple(as_kind(part, k) for part, k in zip(parts(value), kinds, strict=True)),
                ordered=True,
            )
    raise TypeError(f"{value.kind} is no {kind}")


def parts(value: Typed) -> tuple[Typed, ...]:
    """The items of a tuple."""
    assert isinstance(value.kind, Items)
    if isinstance(value.tree, Collection):
        trees: Sequence[Tree] = value.tree.items
    else:
        trees = [Element(value.tree, Number(i + 1)) for i in range(len(value.kind.kinds))]
    return tuple(Typed(tree, kind) for tree, kind in zip(trees, value.kind.kinds, strict=True))


def _as_whole(value: Typed) -> Tree:  # noqa: PLR0911 - one for each kind
    match value.kind, value.tree:
        case Truths(), Truth(value=known):
            return Number(int(known))
        case Truths(), _:
            return If(value.tree, Number(1), Number(0))
        case Words(words=words), Word(text=text):
            return Number(words.index(text))
        case Words(listed=listed), _:
            return Apply(Atom("PlaceOf"), (value.tree, listed))
        case Names(), Atom() if value.tree == NONE_NAME:
            return Number(NONE)
        case Records(number=number), _:
            return Apply(number, (value.tree,))
        case Members(others=True, first=first), _:
            return Infix("-", Number(-1), _as_whole(Typed(value.tree, Members(first=first))))
        case Members(first=first), Collection(items=(member,)):
            return Infix("^", Number(2), minus(member, Number(first)))
        case Members(first=first), _:
            return Apply(Atom("BitsOf"), (shift(value.tree, -first),))
    return value.tree


def _as_record(number: Tree, kind: Records) -> Tree:
    """The struct that a number stands for: its parts are the digits."""
    members: list[tuple[str, Tree]] = []
    weight = 1
    for name, of, lo, size in reversed(kind.parts):
        digit: Tree
        if isinstance(number, Number):
            digit = Number(number.value // weight % size + lo)
        else:
            digit = plus(
                Infix("%", Infix(r"\div", number, Number(weight)), Number(size)), Number(lo)
            )
        members.append((name, as_kind(Typed(digit, WHOLE), of)))
        weight *= size
    return Record(tuple(reversed(members)))


def _as_members(value: Typed) -> Tree:
    number = _as_whole(value)
    if isinstance(number, Number) and number.value >= 0:
        bits = [bit for bit in range(number.value.bit_length()) if number.value >> bit & 1]
        return Collection(tuple(map(Number, bits)), ordered=False)
    return Apply(Atom("MembersOf"), (number,))


def _as_truth(value: Typed) -> Tree:
    if isinstance(value.kind, Members) and not value.kind.others:
        return Infix("#", value.tree, Collection((), ordered=False))
    tree = _as_whole(value)
    match tree:
        case Number(value=number):
            return Truth(number != 0)
    return Infix("#", tree, Number(0))


def kind_of_all(values: Sequence[Typed]) -> Kind:
    """The kind that all of these can be written as."""
    kinds = list(dict.fromkeys(value.kind for value in values))
    if len(kinds) == 1:
        return kinds[0]
    if all(isinstance(kind, Items) for kind in kinds):
        columns = zip(*(parts(value) for value in values), strict=True)
        return Items(tuple(map(kind_of_all, columns)))
    others = [v for v in values if not (v.kind == WHOLE and isinstance(v.tree, Number))]
    numbers: list[Any] = [v.tree for v in values if v not in others]
    among = {value.kind for value in others}
    if len(among) == 1:
        (kind,) = among
        if isinstance(kind, Words) and all(0 <= n.value < len(kind.words) for n in numbers):
            return kind
        if isinstance(kind, Names) or (isinstance(kind, Members) and not kind.others):
            return kind
    if len(among) > 1 and all(isinstance(kind, Members) and not kind.others for kind in among):
        return Members(first=max(kind.first for kind in among if isinstance(kind, Members)))
    return WHOLE


def shift(members: Tree, by: int) -> Tree:
    """The set of what is so much more than these."""
    if by == 0:
        return members
    if isinstance(members, Collection):
        moved = tuple(plus(member, Number(by)) for member in members.items)
        return Collection(moved, ordered=False)
    raise TypeError(f"a set whose members would be counted from {by} on")
