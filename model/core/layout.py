"""State layout: fields packed into 64-bit words.

A model declares named fields, each with its range. These declarations alone determine the packed
layout (the bits of each field), the interpreted state of `model.core.state`, and the compiled one.
Nothing here depends on Kafka.

States are equal exactly if their words are, provided that actions keep elements that are not alive
at their lowest value, which packs to zero bits.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from waterline.model.core.renaming import Holds, Naming, Sort
from waterline.model.core.sorts import DataSort, Held

WORD_BITS = 64
WORDS_MAX = 8


class TooLargeToPack(ValueError):
    """The declared fields need more than `WORDS_MAX` words, or one row of a field more than one."""


@dataclass(frozen=True, slots=True)
class Alive:
    """Condition for a row of a field to exist: `field[row]` has one of `values`.

    Fields that are never alive together share their bits.
    """

    field: str
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One named piece of the state.

    `shape` is () for a number, (n,) for a row of them, (n, m) for a table. Every element lies in
    `lo..hi`, both included; storing another value is an error of the model. `alive` says when the
    rows of a field exist at all: outside it they read as an error and pack to zero bits. `naming`
    says how a renaming acts on the field, and which sorts its indices count; without it the states
    of a model cannot be renamed. `held` is the data sort of its elements, None for plain numbers;
    `indexed_by` the one whose values index its rows.
    """

    name: str
    doc: str
    hi: int
    lo: int = 0
    shape: tuple[int, ...] = ()
    alive: Alive | None = None
    naming: Naming | None = None
    held: Held | None = None
    indexed_by: DataSort | None = None

    def __post_init__(self) -> None:
        if self.lo > self.hi:
            raise ValueError(f"field {self.name}: the range {self.lo}..{self.hi} is empty")
        if len(self.shape) > 2 or any(extent < 1 for extent in self.shape):
            raise ValueError(f"field {self.name}: shape {self.shape} is not (), (n,) or (n, m)")
        if self.alive is not None and not self.shape:
            raise ValueError(f"field {self.name}: only rows can share their bits")

    @property
    def width(self) -> int:
        """Bits of one element."""
        return (self.hi - self.lo).bit_length()

    @property
    def row_bits(self) -> int:
        """Bits of one row: of the whole field where it has no second dimension."""
        return self.width * (self.shape[1] if len(self.shape) == 2 else 1)


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a field: element (i, j) has `width` bits from bit `bit + i*row + j*column`.

    No element straddles two words. `word` is the one word that holds all of it, or -1 if its rows
    lie in several.
    """

    name: str
    lo: int
    hi: int
    width: int
    shape: tuple[int, ...]
    bit: int
    row: int
    column: int
    word: int
    alive: Alive | None


class Element(NamedTuple):
    """One element of a field: `width` bits of a word, as a shift and a mask, and the lowest value.

    For a row that need not be alive, `decides` is the deciding element, `values` its values that
    make the row alive, less the least value of its field.
    """

    word: int
    shift: int
    mask: int
    lo: int
    decides: Element | None = None
    values: frozenset[int] = frozenset()


Index = int | tuple[int, ...]
"""Index of an element in its field: () of a number, i or (i,) in a row, (i, j) in a table."""


@dataclass(slots=True)
class _Chunk:
    """Fields that are placed together: a run of equal rows, each row holding its members."""

    rows: int
    row_bits: int
    members: list[tuple[Field, int]] = field(default_factory=list)

    @property
    def stride(self) -> int:
        """Distance between rows; a power of two where the rows do not fit one word."""
        if self.rows * self.row_bits <= WORD_BITS:
            return self.row_bits
        return 1 << (self.row_bits - 1).bit_length()

    @property
    def bits(self) -> int:
        return self.rows * self.stride


class Layout:
    """The packed form of a model's state: `places` by field name, in `words` 64-bit words.

    `sizes` are the constants that shaped it ("replicas": 2, ...). They can be read on every state
    as if they were fields, and a compiled action sees them as constants. Two layouts are equal when
    everything that a compiled action could depend on is. `elements` has every element of every
    field, by name and index; `classes` is `model.core.state`'s, for the states of this layout.
    """

    __slots__ = ("bits", "classes", "digest", "elements", "fields", "places", "sizes", "words")

    def __init__(self, fields: Sequence[Field], *, sizes: Mapping[str, int]) -> None:
        names = [*sizes, *(f.name for f in fields)]
        doubled = {name for name in names if names.count(name) > 1}
        if doubled:
            raise ValueError(f"declared twice: {', '.join(sorted(doubled))}")
        self.fields = tuple(fields)
        _require_rows_to_decide(self.fields)
        self.sizes = dict(sizes)
        for declared in self.fields:
            _require_names_to_fit(declared, self.fields, self.sizes)
        chunks = _chunks(self.fields)
        self.bits = sum(chunk.rows * chunk.row_bits for chunk in chunks)
        self.words, self.places = _place(chunks)
        self.elements = {name: _elements(self.places, name) for name in self.places}
        self.classes: dict[type, Any] = {}
        described = repr((sorted(self.sizes.items()), sorted(self.places.items()), self.words))
        self.digest = hashlib.sha256(described.encode()).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True  # As layouts of states that are looked up nearly always are.
        if not isinstance(other, Layout) or self.digest != other.digest:
            return False
        return [f.naming for f in self.fields] == [f.naming for f in other.fields]

    def __hash__(self) -> int:
        return int(self.digest, 16)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Layout, sizes=self.sizes), (self.fields,)

    def __repr__(self) -> str:
        return f"Layout({self.bits} bits in {self.words} words, {self.digest})"


def _elements(places: Mapping[str, Place], name: str) -> dict[Index, Element]:
    """Every element of a field by its index; in a row by i and by (i,)."""
    place = places[name]
    found: dict[Index, Element] = {}
    for index in itertools.product(*map(range, place.shape)):
        steps = (place.row, place.column)[: len(index)]
        bit = place.bit + sum(i * step for i, step in zip(index, steps, strict=True))
        element = Element(bit // WORD_BITS, bit % WORD_BITS, (1 << place.width) - 1, place.lo)
        if place.alive is not None:
            decider = places[place.alive.field]
            decides = _elements(places, decider.name)[index[0]]
            alive = frozenset(value - decider.lo for value in place.alive.values)
            element = element._replace(decides=decides, values=alive)
        found[index] = element
        if len(index) == 1:
            found[index[0]] = element
    return found


def _require_rows_to_decide(fields: Sequence[Field]) -> None:
    """A field that is alive by another field's rows needs that field, with as many rows."""
    rows = {f.name: f.shape for f in fields if f.alive is None and len(f.shape) == 1}
    for declared in fields:
        if declared.alive is not None and rows.get(declared.alive.field) != declared.shape[:1]:
            raise ValueError(
                f"field {declared.name} is alive by {declared.alive.field}, "
                f"which is no field with {declared.shape[0]} rows"
            )


def _require_names_to_fit(
    declared: Field, fields: Sequence[Field], sizes: Mapping[str, int]
) -> None:
    """Require a row for each name in an index, and room for each name in a value."""
    naming = declared.naming
    if naming is None:
        return
    for position, sort in enumerate((naming.rows, naming.columns)):
        extent = declared.shape[position] if position < len(declared.shape) else 0
        if sort is not None and extent != sizes.get(sort.value):
            raise ValueError(f"field {declared.name} is not indexed by all {sort.value}")
    replicas = sizes.get((naming.of or Sort.REPLICA).value, 0)
    records = sizes.get(Sort.RECORD.value, 0)
    numbers = math.prod(digit.size for digit in naming.digits)
    ranges = {
        Holds.REPLICA: [(-1, replicas - 1), (0, replicas - 1)],
        Holds.REPLICAS: [(0, (1 << replicas) - 1)],
        Holds.RECORD: [(0, records)],
        Holds.RECORDS: [(0, (1 << records) - 1)],
        Holds.BORN: [(0, records)],
        Holds.PLAIN: [(declared.lo, declared.hi)],
        Holds.DIGITS: [(-1, numbers - 1), (0, numbers - 1)],
    }
    if (declared.lo, declared.hi) not in ranges[naming.holds]:
        raise ValueError(
            f"field {declared.name}: {declared.lo}..{declared.hi} is not the range of what it "
            f"holds, {naming.holds.value}"
        )
    if naming.holds is Holds.BORN and declared.shape:
        raise ValueError(f"field {declared.name}: how many records there are is one number")
    if Sort.RECORD in (naming.rows, naming.columns) and naming.holds is Holds.RECORD:
        raise ValueError(f"field {declared.name}: records that name records cannot be renamed")
    if declared.alive is not None:
        decides = next(f for f in fields if f.name == declared.alive.field)
        if decides.naming != Naming(naming.rows):
            raise ValueError(f"field {declared.name} is not indexed by what {decides.name} is")


def _chunks(fields: Sequence[Field]) -> list[_Chunk]:
    """Group the fields: rows that share their bits become one chunk, every other field its own."""
    chunks = []
    shared: dict[tuple[str, int], dict[tuple[int, ...], list[Field]]] = {}
    for declared in fields:
        if declared.alive is None:
            rows = declared.shape[0] if declared.shape else 1
            chunk = _Chunk(rows, declared.row_bits, [(declared, 0)])
            chunks.append(chunk)
            continue
        group = shared.setdefault((declared.alive.field, declared.shape[0]), {})
        group.setdefault(declared.alive.values, []).append(declared)
    for (_, rows), parts in shared.items():
        claimed = [value for values in parts for value in values]
        if len(claimed) != len(set(claimed)):
            raise ValueError(f"fields that share bits are alive together: {sorted(parts)}")
        chunk = _Chunk(rows, 0)
        for members in parts.values():
            offset = 0
            for member in members:
                chunk.members.append((member, offset))
                offset += member.row_bits
            chunk.row_bits = max(chunk.row_bits, offset)
        chunks.append(chunk)
    return chunks


def _place(chunks: Sequence[_Chunk]) -> tuple[int, dict[str, Place]]:
    """Largest chunk first, each into the first word that has room."""
    free: list[int] = []
    places: dict[str, Place] = {}
    for chunk in sorted(chunks, key=lambda c: c.bits, reverse=True):
        if chunk.row_bits > WORD_BITS:
            names = ", ".join(member.name for member, _ in chunk.members)
            raise TooLargeToPack(
                f"a row of {names} needs {chunk.row_bits} bits, a word has {WORD_BITS}"
            )
        base = _room(free, chunk.bits)
        for member, offset in chunk.members:
            row = chunk.stride if member.shape else 0
            places[member.name] = Place(
                name=member.name,
                lo=member.lo,
                hi=member.hi,
                width=member.width,
                shape=member.shape,
                bit=base + offset,
                row=row,
                column=member.width if len(member.shape) == 2 else 0,
                word=base // WORD_BITS if chunk.bits <= WORD_BITS else -1,
                alive=member.alive,
            )
    if len(free) > WORDS_MAX:
        raise TooLargeToPack(
            f"a state needs {sum(chunk.bits for chunk in chunks)} bits in {len(free)} words, "
            f"at most {WORDS_MAX * WORD_BITS} bits in {WORDS_MAX} words can be packed"
        )
    return max(1, len(free)), places


def _room(free: list[int], bits: int) -> int:
    """Take `bits` out of the words, `free[w]` being what word w has left; return the first bit."""
    if bits == 0:
        return 0
    if bits > WORD_BITS:
        first = len(free)
        whole, rest = divmod(bits, WORD_BITS)
        free += [0] * whole + ([WORD_BITS - rest] if rest else [])
        return first * WORD_BITS
    for word, left in enumerate(free):
        if left >= bits:
            free[word] -= bits
            return word * WORD_BITS + WORD_BITS - left
    free.append(WORD_BITS - bits)
    return (len(free) - 1) * WORD_BITS
