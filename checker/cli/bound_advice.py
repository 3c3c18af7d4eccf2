"""Advice on bounds: how far a verdict reaches, which bound to raise first, what one forbids.

Budgets of faults are left out. They are part of the question: a run with three crashes asks another
question than a run with two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import starmap

from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.words import describe_amount
from waterline.checker.problem.family import words_of
from waterline.checker.problem.wording import describe_version, quantity
from waterline.checker.search.result import Result, Verdict

_NAMED_MAX = 5
"""Most expectations named of those that a bound cuts."""


def bound_to_raise(result: Result) -> str | None:
    """The option with its next value, `--epochs 3`; None where nothing was cut or nothing holds."""
    if (size := _size_to_raise(result)) is None:
        return None
    return words_of(result.problem).option(size, _value(result, size) + 1)


def describe_advice(result: Result) -> str | None:
    """`up to epochs=2 (6,604 steps cut); next: --epochs 3`"""
    if (size := _size_to_raise(result)) is None:
        return None
    cut = quantity(result.cut[size], "step")
    return f"up to {size}={_value(result, size)} ({cut} cut); next: {bound_to_raise(result)}"


def describe_unjudged(result: Result, states: int) -> str:
    """`33 states at a bound were not judged (raise room)`"""
    size = _size_to_raise(result)
    remedy = f" (raise {size})" if size else ""
    were = "was" if states == 1 else "were"
    return f"{quantity(states, 'state')} at a bound {were} not judged{remedy}"


def describe_never_taken(result: Result) -> Iterator[str]:
    """`Never taken, because moves=0: Move`, a line for each reason."""
    actions: dict[str, list[str]] = {}
    for name in result.always_cut:
        budget = result.spent_budget(name)
        why = f"because {budget}=0" if budget else "always beyond a bound"
        actions.setdefault(why, []).append(name)
    for why, names in actions.items():
        yield f"Never taken, {why}: {', '.join(names)}"


def describe_larger(result: Result) -> Iterator[str]:
    """The losses in Kafka's catalogue that larger bounds would show, and these do not."""
    problem = result.problem
    if problem.family is not MESSAGE or problem.model.options["unbounded"]:
        return
    # The catalogue is long, and most runs are not of Kafka or show a loss themselves.
    from waterline.checker.kafka.scenarios.catalogue import losses_beyond, more_needed  # noqa: PLC0415

    version, options = problem.model.version, problem.model.options
    holding = {r.name for r in result.invariants if r.verdict is Verdict.HOLDS}
    found: dict[str, list[str]] = {}
    for under, entry in losses_beyond(version, options):
        if result.complete and entry.claim in holding:
            needed = ", ".join(starmap(describe_amount, more_needed(entry, options).items()))
            found.setdefault(under, []).append(f"{entry.number} needs {needed}")
    for under, entries in found.items():
        first = entries[0].partition(" ")[0]
        yield (
            f"Larger bounds lose a record under {describe_version(under)}: {'; '.join(entries)}. "
            f"See it with --scenario {first}."
        )


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
