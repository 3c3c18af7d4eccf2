"""A bound that stands for any number: a protocol can hand it on to a sort, and do nothing else.

A protocol is declared with it once before an unbounded search. If the function does anything else
with the bound, as to compare it or to give a queue so much room, it raises: then the protocol would
depend on the number, and no verdict be about all of them.
"""

from __future__ import annotations

from typing import Any, NoReturn

_OPERATIONS = (
    *("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift"),
    *("and", "or", "xor", "radd", "rsub", "rmul", "rfloordiv", "rtruediv", "rmod", "rpow"),
    *("rlshift", "rrshift", "rand", "ror", "rxor", "lt", "le", "gt", "ge", "eq", "ne"),
    *("neg", "pos", "abs", "invert", "index", "int", "float", "bool", "iter", "len", "contains"),
    *("getitem", "round", "trunc", "divmod", "rdivmod"),
)


class NumberUsed(ValueError):
    """A protocol depends on a bound that is to be any number."""


class AnyNumber:
    """The bound `name`; `sorts` are the names of those that were declared with it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sorts: list[str] = []

    def __repr__(self) -> str:
        return f"any number of {self.name}"


def _refusing(self: AnyNumber, *others: Any) -> NoReturn:
    raise NumberUsed(
        f"{self.name} is any number without bounds, and only a sort of Epochs or Opaque can have it"
    )


for _operation in _OPERATIONS:
    setattr(AnyNumber, f"__{_operation}__", _refusing)
AnyNumber.__hash__ = _refusing  # type: ignore[method-assign,assignment]  # as the others
