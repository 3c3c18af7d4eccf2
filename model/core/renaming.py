"""Permutations of names applied to a state.

Names are numbers that a rule only compares: replica 0..n-1, record 1..n. Renaming exchanges them
everywhere at once, and leads from a state to one that differs in names alone. Nothing here knows
Kafka, or which models no rule tells names apart in: that is what tests are for.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import ClassVar


class CannotRename(ValueError):
    """A model whose states cannot be renamed was to be; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of names. `value` is the size of the layout that says how many there are.

    They are counted from 0, so that a row of a field can be indexed by them. One that is `born` is
    counted from 1 in order of birth; 0 is none of them, and rows and bits are indexed by id-1.
    """

    value: str
    born: bool = False

    REPLICA: ClassVar[Sort]
    RECORD: ClassVar[Sort]


Sort.REPLICA = Sort("replicas")
Sort.RECORD = Sort("records", born=True)


class Holds(enum.Enum):
    """Meaning of a field's elements."""

    PLAIN = "plain"
    """Something that no renaming changes."""
    REPLICA = "replica"
    """A replica, or a name of `Naming.of`; none where the range begins with -1 and it is that."""
    REPLICAS = "replicas"
    """A set of replicas, or of names of `Naming.of`, a bit each."""
    RECORD = "record"
    """A record, or 0 for none."""
    RECORDS = "records"
    """A set of records, bit id-1 each."""
    DIGITS = "digits"
    """A number with the digits `Naming.digits`, some of them names of a sort each."""
    BORN = "born"
    """Number of records so far: those can be renamed, later ones have no name yet."""


@dataclass(frozen=True, slots=True)
class Digit:
    """A digit of a number: it has `size` values, from `lo` on, which are names of a sort, or None.

    A name is the value itself; what is below 0 is none.
    """

    size: int
    lo: int = 0
    of: Sort | None = None


@dataclass(frozen=True, slots=True)
class Naming:
    """Effect of a renaming on a field: the sorts of its indices, and the kind of its elements.

    None is an index that no renaming touches, such as an offset or an epoch. `of` is the sort of
    the names in the elements if they are not replicas. `digits` are those of the elements, the
    greatest first. The places of a field that `is_sorted` are in descending order, also after a
    renaming; they are its last index.
    """

    rows: Sort | None = None
    columns: Sort | None = None
    holds: Holds = Holds.PLAIN
    of: Sort | None = None
    digits: tuple[Digit, ...] = ()
    is_sorted: bool = False

    def seen_by(self, sort: Sort) -> Naming:
        """Return the naming with this sort in place of replicas; other sorts become plain."""
        held = self.holds in (Holds.REPLICA, Holds.REPLICAS) and (self.of or Sort.REPLICA) != sort
        rows, columns = (
            Sort.REPLICA if index == sort else index if index == Sort.RECORD else None
            for index in (self.rows, self.columns)
        )
        if self.holds is Holds.DIGITS:
            mine = [digit if digit.of == sort else replace(digit, of=None) for digit in self.digits]
            if all(digit.of is None for digit in mine):
                return Naming(rows, columns)
            return Naming(rows, columns, Holds.DIGITS, None, tuple(mine), self.is_sorted)
        if held:
            return Naming(rows, columns)
        return Naming(rows, columns, self.holds, is_sorted=self.is_sorted)


PLAIN = Naming()
ONE_REPLICA = Naming(holds=Holds.REPLICA)
SET_OF_REPLICAS = Naming(holds=Holds.REPLICAS)
SET_OF_RECORDS = Naming(holds=Holds.RECORDS)
RECORD_AT_OFFSET = Naming(holds=Holds.RECORD)
RECORDS_BORN = Naming(holds=Holds.BORN)
BY_REPLICA = Naming(Sort.REPLICA)
BY_RECORD = Naming(Sort.RECORD)
REPLICA_BY_REPLICA = Naming(Sort.REPLICA, holds=Holds.REPLICA)
REPLICAS_BY_REPLICA = Naming(Sort.REPLICA, holds=Holds.REPLICAS)
RECORDS_BY_REPLICA = Naming(Sort.REPLICA, holds=Holds.RECORDS)
LOG_BY_REPLICA = Naming(Sort.REPLICA, holds=Holds.RECORD)
BY_REPLICA_AND_REPLICA = Naming(Sort.REPLICA, Sort.REPLICA)
