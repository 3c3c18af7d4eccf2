"""Advice on bounds: which bound to raise first after a verdict that holds.

The budgets of faults are not looked at. They are what was asked: what two crashes can do, another
run asks of three.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.problem.family import words_of
from checker.problem.wording import counted
from checker.search.result import Result, Verdict

_NAMED_MAX = 5
"""So many expectations are named of those that a bound cuts."""


def bound_to_raise(result: Result) -> str | None:
    """The option with its next value, `--epochs 3`; None where nothing was cut or nothing holds."""
    if (size := _size_to_raise(result)) is None:
        return None
    return words_of(result.problem).option(size, _value(result, size) + 1)


def describe_advice(result: Result) -> str | None:
    """`--epochs 3: what holds, holds within epochs 2, which cut 6,604 transitions`"""
    if (size := _size_to_raise(result)) is None:
        return None
    cut = f"{counted(result.cut[size], 'step')} would have gone beyond"
    within = f"{size} {_value(result, size)}"
    return f"{bound_to_raise(result)}: what holds, holds within {within}; {cut}"


def gate_advice(named: Sequence[tuple[str, Result]]) -> Iterator[str]:
    """For each option the expectations that hold within it, the first few by name."""
    text: dict[str, list[str]] = {}
    for name, result in named:
        if size := _size_to_raise(result):
            text.setdefault(size, []).append(name)
    for size, names in text.items():
        more = f" and {len(names) - _NAMED_MAX:,} more" if len(names) > _NAMED_MAX else ""
        yield f"Cut by {size}, to be raised first: {', '.join(names[:_NAMED_MAX])}{more}."


def _size_to_raise(result: Result) -> str | None:
    if not result.complete or not any(r.verdict is Verdict.HOLDS for r in result.invariants):
        return None
    for size, greatest in words_of(result.problem).raisable.items():
        if result.cut.get(size) and _value(result, size) < greatest:
            return size
    return None


def _value(result: Result, size: str) -> int:
    value = result.problem.model.options[size]
    assert isinstance(value, int)
    return value
