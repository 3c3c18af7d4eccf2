"""A kind of field with places that is no row of values: how often each value was counted.

It is as small as a kind can be, and shows what `PlacedField` and `Code` ask of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from waterline.model.core.state import OutOfRange
from waterline.model.own.names import Names
from waterline.model.own.placed import CLEAR, Code, Method, PlacedField
from waterline.model.own.questions import BeyondBound


@dataclass(frozen=True, slots=True, init=False)
class Tally(PlacedField):
    """`seen = Tally(of=3, most=2)`: `s.seen.add(1)`, `s.seen.remove(1)`, `s.seen.count(1)`."""

    most: int

    methods: ClassVar = {
        "add": Method("value"),
        "remove": Method("value"),
        "count": Method("value", "number", changes=False),
        "clear": CLEAR,
    }
    remedies: ClassVar[Mapping[str, str]] = {"append": "Q.add(...)"}
    adds = "add"
    holds = None

    @property
    def named_by(self) -> Names | None:
        return self.of if isinstance(self.of, Names) else None

    def __init__(self, *given: Any, **said: Any) -> None:
        self._take(given, said, "of", "most")

    @property
    def range(self) -> tuple[int, int]:
        return 0, self.most

    @property
    def slots(self) -> int:
        lo, hi = self.element.range
        return hi - lo + 1

    @property
    def values(self) -> list[Any]:
        lo, hi = self.element.range
        return [self.element.decode(number) for number in range(lo, hi + 1)]

    @property
    def code(self) -> TallyCode:
        return TallyCode(self)

    @property
    def first(self) -> tuple[int, ...]:
        return (0,) * self.slots

    def encode(self, value: Any) -> Any:
        return tuple(value)

    def data(self, kept: Any) -> dict[Any, int]:
        return dict(zip(self.values, kept, strict=True))

    def _has(self, value: Any) -> bool:
        return isinstance(value, tuple) and len(value) == self.slots

    def view(self, value: Any, name: str, write: Any) -> TallyView:
        return TallyView(self, value, write)


class TallyView(tuple[int, ...]):
    declared: Any
    write: Any

    def __new__(cls, declared: Any, counts: Any, write: Any) -> TallyView:
        made = super().__new__(cls, counts)
        made.declared, made.write = declared, write
        return made

    def __len__(self) -> int:
        return sum(self)

    def __contains__(self, value: Any) -> bool:
        return self.count(value) > 0

    def count(self, value: Any) -> int:
        values = self.declared.values
        return self[values.index(value)] if value in values else 0

    def add(self, value: Any) -> None:
        if self.count(value) >= self.declared.most:
            raise BeyondBound("full", self.declared.name)
        self._put(value, 1)

    def remove(self, value: Any) -> None:
        if self.count(value) == 0:
            raise OutOfRange("none")
        self._put(value, -1)

    def clear(self) -> None:
        self.write((0,) * self.declared.slots)

    def _put(self, value: Any, by: int) -> None:
        pairs = zip(self.declared.values, self, strict=True)
        self.write(tuple(n + by * (each == value) for each, n in pairs))


@dataclass(frozen=True, slots=True)
class TallyCode(Code):
    takes: ClassVar = {"is_full": "x", "add": "x", "remove": "x", "count": "x", "contains": "x"}

    def _length(self) -> list[str]:
        counted = f"    n = n + {self._place('p')}"
        return ["n = 0", f"for p in range({self.field.slots}):", counted, "return n"]

    @property
    def _of(self) -> str:
        """The place of the value x."""
        return self._place(f"x - {self.field.element.range[0]}")

    def _is_full(self) -> list[str]:
        return [f"return {self._of} >= {self.field.most}"]

    def _add(self) -> list[str]:
        return [f"{self._of} = {self._of} + 1"]

    def _remove(self) -> list[str]:
        return [f"{self._of} = {self._of} - 1"]

    def _count(self) -> list[str]:
        return [
            "if x < {} or x > {}:".format(*self.field.element.range),
            "    return 0",
            f"return {self._of}",
        ]

    def _contains(self) -> list[str]:
        return [
            "if x < {} or x > {}:".format(*self.field.element.range),
            "    return False",
            f"return {self._of} > 0",
        ]

    def _clear(self) -> list[str]:
        return [f"for p in range({self.field.slots}):", f"    {self._place('p')} = 0"]
