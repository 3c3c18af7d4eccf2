"""Canonical form under a symmetry: generates the function that picks a representative.

Of all renamings of a state, the representative is the one with the least words among those whose
replicas' signatures do not decrease, and whose records are numbered as they first appear. A
signature is made of facts that no renaming changes: a replica's own plain fields, its membership in
sets, whether a field names it. All orders of replicas with the same signature are tried, so the
form is exact and not a matter of luck.

The text is unrolled for one layout. A state is a few local variables `w0, w1, ...`, one a word, all
of them signed 64-bit numbers, like all that `checker.compiler` compiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waterline.checker.compiler.fields import as_signed
from waterline.checker.problem.symmetry import Symmetry
from waterline.model.core.layout import WORD_BITS, Alive, Field, Layout, Place
from waterline.model.core.renaming import CannotRename, Holds, Naming, Sort

_MIX = 0x2545F4914F6CDD1D
"""Odd multiplier used to fold overflowing terms into the signature."""
_LEAST = -(1 << 63)
Term = tuple[str, int]
"""An expression and the bits that its value takes."""


def canonical_source(layout: Layout, symmetry: Symmetry) -> str:
    """The text of `canonical(rows, count)`: rows[:count], signed, become representatives."""
    return "\n".join(_Text(layout, symmetry).lines()) + "\n"


class _Text:
    """Lines of text about one layout, and the names that may be exchanged in it."""

    def __init__(self, layout: Layout, symmetry: Symmetry) -> None:
        self.layout = layout
        self.words = range(layout.words)
        counted = [sort for sort in symmetry.sorts if not sort.born] or [Sort.REPLICA]
        if len(counted) > 1:
            raise CannotRename(f"symmetry {symmetry.value}: one such sort at a time is renamed")
        self.sort = counted[0]
        """The sort in the role of replicas below: the one of its kind that is renamed."""
        self.replicas = layout.sizes.get(self.sort.value, 0)
        self.records = layout.sizes.get(Sort.RECORD.value, 0)
        self.renames_replicas = self.sort in symmetry.sorts and self.replicas > 1
        self.renames_records = Sort.RECORD in symmetry.sorts and self.records > 1

    def lines(self) -> Iterator[str]:
        """The whole function."""
        yield "def canonical(rows, count):"
        yield f"    order = room({self.replicas})"
        yield f"    signature = room({self.replicas})"
        yield f"    place = room({self.replicas + 1})"
        yield f"    name = room({self.records + 1})"
        yield f"    key = room({self.records + 1})"
        yield "    place[0] = 0"
        yield "    name[0] = 0"
        yield "    key[0] = 0"
        yield "    for row in range(count):"
        yield from _indent(2, self._one_row())

    def _one_row(self) -> Iterator[str]:
        for w in self.words:
            yield f"w{w} = rows[row, {w}]"
        if not self.renames_replicas:
            yield from self._copy("w", "t")
            yield from self._rename_records()
            yield from self._store("u")
            return
        yield from self._signatures()
        yield f"tied = sort_by_signature(order, signature, {self.replicas})"
        if not self.renames_records:
            ordered = " and ".join(f"order[{r}] == {r}" for r in range(self.replicas))
            yield f"if not tied and {ordered}:"
            yield "    continue"
        yield from (f"b{w} = 0" for w in self.words)
        yield "first = True"
        yield "while True:"
        yield from _indent(1, self._rename_replicas())
        yield from _indent(1, self._rename_records())
        yield f"    if first or {_less('u', 'b', self.words)}:"
        yield from _indent(2, self._copy("u", "b"))
        yield "    first = False"
        yield f"    if not tied or not next_order(order, signature, {self.replicas}):"
        yield "        break"
        yield from self._store("b")

    def _naming(self, field: Field) -> Naming:
        assert field.naming is not None, field.name
        return field.naming.seen_by(self.sort)

    def _copy(self, source: str, target: str) -> Iterator[str]:
        yield from (f"{target}{w} = {source}{w}" for w in self.words)

    def _store(self, source: str) -> Iterator[str]:
        yield from (f"rows[row, {w}] = {source}{w}" for w in self.words)

    # --- reading and writing elements ------------------------------------------------------------

    def _fields(self, *sorts: Sort) -> Iterator[tuple[Field, Naming, Place]]:
        """The fields that renaming one of these sorts changes."""
        held = {
            Sort.REPLICA: (Holds.REPLICA, Holds.REPLICAS, Holds.DIGITS),
            Sort.RECORD: (Holds.RECORD, Holds.RECORDS),
        }
        for field in self.layout.fields:
            naming = self._naming(field)
            if any(
                sort in (naming.rows, naming.columns) or naming.holds in held[sort]
                for sort in sorts
            ):
                yield field, naming, self.layout.places[field.name]

    def _alive(self, source: str) -> Iterator[str]:
        """`alive0_1w`: all ones where row 1 of what lives by condition 0 is alive in w, else 0."""
        for number, alive in enumerate(self._conditions()):
            place = self.layout.places[alive.field]
            for row in range(place.shape[0]):
                is_one = " or ".join(
                    f"{_read(source, place, row)} == {value - place.lo}" for value in alive.values
                )
                yield f"alive{number}_{row}{source} = -1 if {is_one} else 0"

    def _conditions(self) -> list[Alive]:
        return list(dict.fromkeys(f.alive for f in self.layout.fields if f.alive is not None))

    def _if_alive(self, source: str, field: Field, row: int, value: str) -> str:
        if field.alive is None:
            return value
        return f"({value}) & alive{self._conditions().index(field.alive)}_{row}{source}"

    # --- replicas --------------------------------------------------------------------------------

    def _signatures(self) -> Iterator[str]:
        yield from self._alive("w")
        if self.renames_records:
            for record in range(1, self.records + 1):
                yield f"key[{record}] = 1 + ({_pack(self._of_record('w', record))})"
        for replica in range(self.replicas):
            yield f"signature[{replica}] = {_pack(self._of_replica(replica))}"

    def _of_replica(self, r: int) -> Iterator[Term]:
        """All that the state says of replica r without naming another, or a record."""
        for field in self.layout.fields:
            naming, place = self._naming(field), self.layout.places[field.name]
            renamed_record = naming.holds is Holds.RECORD and self.renames_records
            if naming.columns is not None or Sort.RECORD in (naming.rows, naming.columns):
                continue
            if naming.rows == Sort.REPLICA:
                for term in self._of_own_row(field, naming, place, r, renamed_record):
                    yield self._if_alive("w", field, r, term[0]), term[1]
            elif field.alive is None:
                for i, j in _elements(place):
                    if naming.holds is Holds.REPLICAS:
                        yield f"{_read('w', place, i, j)} >> {r} & 1", 1
                    elif naming.holds is Holds.REPLICA and not naming.is_sorted:
                        yield f"int({_read('w', place, i, j)} == {r - place.lo})", 1

    def _of_own_row(
        self, field: Field, naming: Naming, place: Place, r: int, renamed_record: bool
    ) -> Iterator[Term]:
        columns = range(place.shape[1]) if len(place.shape) == 2 else [0]
        if naming.holds is Holds.REPLICAS:
            yield from ((f"{_read('w', place, r, j)} >> {r} & 1", 1) for j in columns)
        elif naming.holds is Holds.REPLICA:
            if not naming.is_sorted:  # what is sorted anew stands in other places then
                same = (f"int({_read('w', place, r, j)} == {r - place.lo})" for j in columns)
                yield from ((each, 1) for each in same)
        elif naming.holds is Holds.DIGITS:
            return  # in it are names of others
        elif renamed_record:
            bits = sum(term[1] for term in self._of_record("w", 1)) + 1
            yield from ((f"key[{_read('w', place, r, j)}]", bits) for j in columns)
        elif naming.holds is not Holds.RECORDS or not self.renames_records:
            yield _read_row("w", place, r), field.row_bits

    def _rename_replicas(self) -> Iterator[str]:
        """Call replica order[i] of w i in t."""
        replicas = range(self.replicas)
        for new in replicas:
            yield f"place[order[{new}] + 1] = {new + 1}"
        yield from (f"p{r} = place[{r + 1}] - 1" for r in replicas)
        fields = list(self._fields(Sort.REPLICA))
        yield from self._clear("w", "t", fields)
        for field, naming, place in fields:
            renamed = naming.holds in (Holds.REPLICA, Holds.REPLICAS, Holds.DIGITS)
            whole = not renamed and naming.columns is None
            if whole:
                for i in range(place.shape[0]):
                    value = self._if_alive("w", field, i, _read_row("w", place, i))
                    yield from _put("t", place, value, f"p{i}", 0)
                continue
            if naming.is_sorted:
                yield from self._sorted_places(naming, place)
                continue
            for i, j in _elements(place):
                value = _read("w", place, i, j)
                if naming.holds in (Holds.REPLICA, Holds.DIGITS):
                    value = _rename(naming, place, value)
                elif naming.holds is Holds.REPLICAS:
                    value = _moved_bits(value, [f"p{r}" for r in replicas])
                row = f"p{i}" if naming.rows == Sort.REPLICA else i
                column = f"p{j}" if naming.columns == Sort.REPLICA else j
                value = self._if_alive("w", field, i, value)
                yield from _put("t", place, value, row, column)

    def _sorted_places(self, naming: Naming, place: Place) -> Iterator[str]:
        """Rename what is in the places of each row, and put the greatest first again."""
        rows, columns = (1, *place.shape)[-2:]
        for row in range(rows):
            at = [(row, j) if len(place.shape) == 2 else (j, 0) for j in range(columns)]
            for j, (one, two) in enumerate(at):
                yield f"x{j} = {_rename(naming, place, _read('w', place, one, two))}"
            for last in range(columns - 1, 0, -1):
                for j in range(last):
                    yield f"if x{j} < x{j + 1}:"
                    yield f"    x = x{j}"
                    yield f"    x{j} = x{j + 1}"
                    yield f"    x{j + 1} = x"
            for j, (one, two) in enumerate(at):
                to = f"p{row}" if naming.rows == Sort.REPLICA else one
                yield from _put("t", place, f"x{j}", to, two)

    # --- records ---------------------------------------------------------------------------------

    def _rename_records(self) -> Iterator[str]:
        """Number the records of t in u as they first appear, those that do not appear last."""
        if not self.renames_records:
            yield from self._copy("t", "u")
            return
        yield from self._alive("t")
        yield from self._name_records()
        yield from (f"n{i} = name[{i + 1}] - 1" for i in range(self.records))
        fields = list(self._fields(Sort.RECORD))
        yield from self._clear("t", "u", fields)
        for field, naming, place in fields:
            for i, j in _elements(place):
                value = _read("t", place, i, j)
                if naming.holds is Holds.RECORD:
                    value = f"name[{value}]"
                elif naming.holds is Holds.RECORDS:
                    value = _moved_bits(value, [f"n{bit}" for bit in range(self.records)])
                row = f"n{i}" if naming.rows == Sort.RECORD else i
                column = f"n{j}" if naming.columns == Sort.RECORD else j
                value = self._if_alive("t", field, i, value)
                yield from _put("u", place, value, row, column)

    def _name_records(self) -> Iterator[str]:
        yield f"born = {self._born()}"
        for record in range(1, self.records + 1):
            yield f"name[{record}] = 0 if {record} <= born else {record}"
        yield "given = 1"
        for field, naming, place in self._fields(Sort.RECORD):
            if naming.holds is Holds.RECORD:
                for i, j in _elements(place):
                    yield f"x = {self._if_alive('t', field, i, _read('t', place, i, j))}"
                    yield "if x != 0 and name[x] == 0:"
                    yield "    name[x] = given"
                    yield "    given += 1"
        yield "if given <= born:"
        for record in range(1, self.records + 1):
            terms = list(self._of_record("t", record, every=True))
            if sum(bits for _, bits in terms) > WORD_BITS:
                raise CannotRename("what is stored of a record needs more than 64 bits")
            yield f"    key[{record}] = {_pack(terms)}"
        yield "    name_rest(name, key, given, born)"

    def _born(self) -> str:
        for field in self.layout.fields:
            if self._naming(field).holds is Holds.BORN:
                return _read("t", self.layout.places[field.name])
        return str(self.records)

    def _of_record(self, source: str, record: int, *, every: bool = False) -> Iterator[Term]:
        """Yield a record's terms that hold neither its own place nor the name of a replica.

        With `every` also those that belong to one replica: two records that are alike in these, and
        are not stored anywhere, are alike.
        """
        index = record - 1
        for field, naming, place in self._fields(Sort.RECORD):
            replicas = Sort.REPLICA in (naming.rows, naming.columns) or naming.holds in (
                Holds.REPLICA,
                Holds.REPLICAS,
            )
            if naming.holds is Holds.RECORD or (not every and (replicas or field.alive)):
                continue
            for i, j in _elements(place):
                value, bits = _read(source, place, i, j), place.width
                if naming.holds is Holds.RECORDS:
                    value, bits = f"{value} >> {index} & 1", 1
                elif index != (i if naming.rows == Sort.RECORD else j):
                    continue
                yield (self._if_alive(source, field, i, value) if every else value), bits

    def _clear(
        self, source: str, target: str, fields: Sequence[tuple[Field, Naming, Place]]
    ) -> Iterator[str]:
        """`target` := `source` with zero bits where these fields are alive."""
        holes = [0] * len(self.words)
        sometimes: list[tuple[int, str]] = []
        for field, _, place in fields:
            for i in range(place.shape[0] if place.shape else 1):
                word, shift = divmod(place.bit + i * place.row, WORD_BITS)
                bits = ((1 << field.row_bits) - 1) << shift
                if field.alive is None:
                    holes[word] |= bits
                else:
                    hole = self._if_alive(source, field, i, str(as_signed(bits)))
                    sometimes.append((word, f"~({hole})"))
        for w in self.words:
            yield f"{target}{w} = {source}{w} & {as_signed(~holes[w])}"
        for word, hole in sometimes:
            yield f"{target}{word} &= {hole}"


def _indent(levels: int, lines: Iterator[str]) -> Iterator[str]:
    return (" " * 4 * levels + line for line in lines)


def _elements(place: Place) -> Iterator[tuple[int, int]]:
    rows, columns = (*place.shape, 1, 1)[:2]
    return ((i, j) for i in range(rows) for j in range(columns))


def _bits(source: str, bit: int, width: int) -> str:
    word, shift = divmod(bit, WORD_BITS)
    shifted = f"({source}{word} >> {shift})" if shift else f"{source}{word}"
    return f"({shifted} & {as_signed((1 << width) - 1)})"


def _read(source: str, place: Place, row: int = 0, column: int = 0) -> str:
    """An element as it is packed: less the least of its range."""
    return _bits(source, place.bit + row * place.row + column * place.column, place.width)


def _read_row(source: str, place: Place, row: int) -> str:
    columns = place.shape[1] if len(place.shape) == 2 else 1
    return _bits(source, place.bit + row * place.row, place.width * columns)


def _put(target: str, place: Place, value: str, row: str | int, column: str | int) -> Iterator[str]:
    """Write an element, or a whole row, into bits that are zero."""
    if isinstance(row, int) and isinstance(column, int):
        word, shift = divmod(place.bit + row * place.row + column * place.column, WORD_BITS)
        yield f"{target}{word} |= ({value}) << {shift}"
        return
    offset = f"{row} * {place.row} + {column} * {place.column}"
    if place.word >= 0:
        yield f"{target}{place.word} |= ({value}) << {place.bit % WORD_BITS} + {offset}"
        return
    last = place.bit + (place.shape[0] - 1) * place.row
    yield f"at = {place.bit} + {offset}"
    yield f"x = {value}"
    for word in range(place.bit // WORD_BITS, last // WORD_BITS + 1):
        yield f"if at >> {WORD_BITS.bit_length() - 1} == {word}:"
        yield f"    {target}{word} |= x << (at & {WORD_BITS - 1})"


def _rename(naming: Naming, place: Place, value: str) -> str:
    """A name, or a number with names among its digits, after renaming; both as they are packed."""
    if naming.holds is Holds.REPLICA:
        return f"place[{value} + {1 + place.lo}] - {1 + place.lo}"
    # What is packed below the number 0 is none.
    number, weight, terms = f"({value} - {-place.lo})", 1, []
    for digit in reversed(naming.digits):
        each = f"{number} // {weight} % {digit.size}"
        if digit.of is not None:
            each = f"(place[({each}) + {1 + digit.lo}] - {1 + digit.lo})"
        terms.append(f"{each} * {weight}")
        weight *= digit.size
    made = f"{' + '.join(terms)} + {-place.lo}"
    return f"({made} if {value} >= {-place.lo} else {value})"


def _moved_bits(members: str, to: Sequence[str]) -> str:
    """A set of names after its members have been renamed."""
    return " | ".join(f"({members} >> {old} & 1) << {new}" for old, new in enumerate(to))


def _pack(terms: Iterator[Term] | Sequence[Term]) -> str:
    """All the terms in one number: side by side, and mixed where that takes several."""
    numbers, used = ["0"], 0
    for value, bits in terms:
        used += bits
        if used > WORD_BITS:
            numbers.append("0")
            used = bits
        numbers[-1] = f"({numbers[-1]}) << {bits} | ({value})"
    packed = numbers[0]
    for number in numbers[1:]:
        packed = f"({packed}) * {_MIX} + ({number})"
    return packed


def _less(left: str, right: str, words: Sequence[int]) -> str:
    """True if one state is less than another, words compared from the first, without their sign."""
    less = ""
    for w in reversed(words):
        one, other = f"{left}{w}", f"{right}{w}"
        here = f"({one} ^ {_LEAST}) < ({other} ^ {_LEAST})"
        less = f"({here} or ({one} == {other} and {less}))" if less else f"{here}"
    return less
