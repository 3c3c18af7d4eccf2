"""Plan of a reduction as plain values; `checker.reduction.planning` makes it.

Who only makes the smaller model of them needs nothing of the analysis.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from model.core.errors import BadEnvironment

Cell = tuple[str, int, int]
"""An element of a field: name, row, column; 0 where there is none."""


class CannotReduce(BadEnvironment):
    """A problem has claims or rules with which a reduction would not be exact."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """A field that is postponed: its range, who only writes it, and who else touches it.

    `row` says by the name of an action which of its arguments is the row.
    """

    field: str
    lo: int
    hi: int
    writers: tuple[str, ...]
    others: tuple[str, ...]
    row: dict[str, int]

    @property
    def possible(self) -> str:
        """The name of the field that holds the set."""
        return f"possible_{self.field}"

    @property
    def values(self) -> str:
        """The name of the size that counts the values."""
        return f"values_of_{self.field}"

    @property
    def count(self) -> int:
        """How many values there are."""
        return self.hi - self.lo + 1


@dataclass(frozen=True, slots=True)
class AtOnce:
    """A step that is taken at once where it changes none of the elements `compared`.

    It may change all of these, and `changes`.
    """

    action: str
    arguments: tuple[int, ...]
    compared: tuple[Cell, ...]
    changes: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Dead:
    """A field that is dead once all budgets are used up that the fields `spent` count.

    It is so in a row only while `deciding` has one of these values there; where nothing decides, in
    all of them.
    """

    field: str
    deciding: str
    values: tuple[int, ...]
    spent: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decisions:
    """How a model is made smaller.

    `fields` vary and are not kept; `actions` change nothing that matters and are not taken; `never`
    cannot happen. `at_once` are in an order in which none makes an earlier one possible. `dead` is
    what is kept at times only.
    """

    fields: tuple[str, ...]
    actions: tuple[str, ...]
    never: tuple[str, ...]
    postponed: tuple[Postponed, ...]
    at_once: tuple[AtOnce, ...]
    dead: tuple[Dead, ...]

    @property
    def writers(self) -> tuple[str, ...]:
        """The actions that do nothing but write what is postponed."""
        return tuple(name for each in self.postponed for name in each.writers)


def as_text(decisions: Decisions) -> bytes:
    """The decisions as they are kept."""
    return json.dumps(asdict(decisions)).encode()


def of_text(text: bytes) -> Decisions:
    """The decisions that were kept. Raises `ValueError` where the text is not what `as_text` makes.

    The text is trusted as far as the cache is: whoever could write it could write machine code.
    """
    try:
        values = json.loads(text)
        found = Decisions(
            **{
                **_with_tuples(values),
                "postponed": tuple(Postponed(**_with_tuples(v)) for v in values["postponed"]),
                "at_once": tuple(AtOnce(**_with_tuples(v)) for v in values["at_once"]),
                "dead": tuple(Dead(**_with_tuples(v)) for v in values["dead"]),
            }
        )
    except (AttributeError, KeyError, TypeError) as problem:
        raise ValueError(f"no decisions: {problem}") from problem
    if as_text(found) != text:
        raise ValueError("no decisions: not what was kept")
    return found


def _with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: _tuple(value) for name, value in values.items()}


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if isinstance(value, list) else value
