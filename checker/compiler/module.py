"""A compilation unit: every function once for each kind of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from waterline.checker.compiler.function import RUNS_MAX, Body
from waterline.checker.compiler.function_ir import Written
from waterline.checker.compiler.resolution import Lookups
from waterline.checker.compiler.scope import Ranges
from waterline.checker.compiler.source import NotCompilable, Source
from waterline.checker.compiler.values import (
    ArrayValue,
    Number,
    SettingsValue,
    StateValue,
    Value,
    as_argument,
)

_Key = tuple[Source, tuple[Value, ...]]
_INTRINSICS = """\
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.ctpop.i64(i64)
declare i64 @llvm.cttz.i64(i64, i1)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
!0 = !{!"branch_weights", i32 1, i32 2000}
!1 = !{}
"""
ATTRIBUTES = "nounwind"


@dataclass(slots=True)
class Unit:
    """A compilation unit. With `comment` every statement of a rule stands above what it became.

    With `trusted` all its functions are the checker's own, not only generated ones.
    """

    comment: bool = False
    attributes: str = ATTRIBUTES
    trusted: bool = False
    lookups: Lookups = field(default_factory=Lookups)
    _written: dict[_Key, Written] = field(default_factory=dict)
    _begun: list[Source] = field(default_factory=list)
    _tables: dict[tuple[int, ...], str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def call(self, source: Source, arguments: Sequence[Value]) -> Written:
        """The function as it is written for arguments of these kinds. Raises `NotCompilable`."""
        names = source.parameters
        if len(names) != len(arguments):
            raise source.refuse(
                source.line, f"it is given {len(arguments)} arguments", f"take {', '.join(names)}"
            )
        kinds = tuple(
            _as_parameter(source, name, value) for name, value in zip(names, arguments, strict=True)
        )
        key = (source, kinds)
        if key not in self._written:
            if source in self._begun:
                raise source.refuse(source.line, "it calls itself", "write a loop")
            self._begun.append(source)
            try:
                self._written[key] = self._write(source, kinds)
            finally:
                self._begun.pop()
        return self._written[key]

    def _write(self, source: Source, kinds: tuple[Value, ...]) -> Written:
        count = self._counts[source.name] = self._counts.get(source.name, 0) + 1
        name = source.name if count == 1 else f"{source.name}.{count}"
        ranges: Ranges = {}
        for _ in range(RUNS_MAX):
            body = Body(
                source,
                self.call,
                self.table,
                self.lookups,
                comment=self.comment,
                trusted=self.trusted or source.generated,
            )
            written = body.write(name, kinds, ranges)
            if not body.scope.has_grown():
                return written
            ranges = body.scope.widen(ranges)
        raise NotCompilable(f"{source.name}: the ranges of its variables never stand")

    def table(self, numbers: tuple[int, ...]) -> str:
        """A constant array of numbers."""
        return self._tables.setdefault(numbers, f"@table.{len(self._tables) + 1}")

    def text(self, *roots: Written) -> str:
        """The whole module: these functions, and all that they call."""
        order: dict[str, Written] = {}
        waiting = list(reversed(roots))
        while waiting:
            written = waiting.pop()
            if written.name not in order:
                order[written.name] = written
                waiting += reversed(written.calls)
        parts = [_INTRINSICS]
        for numbers, name in self._tables.items():
            items = ", ".join(f"i64 {number}" for number in numbers)
            parts.append(f"{name} = private constant [{len(numbers)} x i64] [{items}]\n")
        parts += [
            f"{written.text(self.attributes, outer=written in roots)}\n"
            for written in order.values()
        ]
        return "\n".join(parts)


def _as_parameter(source: Source, name: str, value: Value) -> Value:
    """A value as a function sees it that is given it: by the parameter's name, unless known."""
    match value:
        case Number():
            value = as_argument(value)
            return value if value.is_constant else Number(f"%{name}", value.lo, value.hi)
        case StateValue():
            return StateValue(f"%{name}", value.layout, value.writable)
        case SettingsValue():
            pointer = f"%{name}" if None in value.numbers else ""
            return SettingsValue(value.names, value.numbers, pointer)
        case ArrayValue():
            return ArrayValue(f"%{name}", value.element, value.columns)
    raise source.refuse(source.line, f"`{name}` is given something else than a number", "give one")
