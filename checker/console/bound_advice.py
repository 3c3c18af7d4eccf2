"""Which bound to raise first after a run in which something holds: a verdict is about its bounds.

The budgets of faults are not looked at. They are what was asked: what two crashes can do, another
run asks of three.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.result import Result, Verdict
from model.message.environment import EPOCHS_MAX, RECORDS_MAX

_SIZES = {"epochs": EPOCHS_MAX, "log-size": RECORDS_MAX, "records": RECORDS_MAX}
"""What to raise and how far it can be, first what may make a larger bound superfluous: where no
epoch is cut, a larger bound on epochs has the very same states, while one more record can always be
produced."""


def bound_to_raise(result: Result) -> str | None:
    """The option with its next value, `--epochs 3`; None where nothing was cut or nothing holds."""
    if not result.complete or not any(r.verdict is Verdict.HOLDS for r in result.invariants):
        return None
    options = result.problem.model.options
    for size, greatest in _SIZES.items():
        value = options.get(size)
        if result.cut.get(size) and isinstance(value, int) and value < greatest:
            return f"--{size} {value + 1}"
    return None


def told_advice(result: Result) -> str | None:
    """`--epochs 3: what holds, holds within epochs 2, which cut 6,604 transitions`"""
    option = bound_to_raise(result)
    if option is None:
        return None
    size = option.removeprefix("--").split()[0]
    value = result.problem.model.options[size]
    cut = f"{result.cut[size]:,} steps would have gone beyond"
    return f"{option}: what holds, holds within {size} {value}; {cut}"


def gate_advice(named: Sequence[tuple[str, Result]]) -> Iterator[str]:
    """For each option the expectations that hold within it, the first few by name."""
    told: dict[str, list[str]] = {}
    for name, result in named:
        if option := bound_to_raise(result):
            told.setdefault(option.split()[0], []).append(name)
    for option, names in told.items():
        size = option.removeprefix("--")
        yield f"Cut by {size}, to be raised first: {', '.join(names)}."
