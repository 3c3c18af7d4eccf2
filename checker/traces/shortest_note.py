"""Note on how many counterexamples are as short as the one shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from waterline.checker.problem.wording import quantity

if TYPE_CHECKING:
    from waterline.checker.traces.alternatives import Others
    from waterline.checker.traces.finding import Finding
    from waterline.counterexamples import Trace


def describe_alike(finding: Finding, names: str = "") -> str:
    """Return a note that no trace is shorter, with the number of such states and their faults.

    For an infinite trace: that no way to its cycle is shorter. "" if no search has found it.
    """
    if finding.replayed.trace.cycle is not None:
        return _describe_lasso(finding.replayed.trace)
    if finding.breaking is None:
        return ""
    states, faults = finding.breaking.states, finding.breaking.faults
    steps = quantity(len(finding.replayed.moments), "step")
    number = quantity(states, "state") + (f"{names}," if names else "")
    if finding.breaking.of_steps:
        text = f"a step out of {number} breaks the claim"
    else:
        text = f"{number} at that depth break{'s' if states == 1 else ''} the claim"
    least = "" if faults is None else f", at least {quantity(faults, 'fault')}"
    return f"Shortest: {steps}{least}; {text}."


def _describe_lasso(trace: Trace) -> str:
    assert trace.cycle is not None
    way = f"Shortest way to where it can go on so for ever: {quantity(trace.cycle, 'step')}"
    length = len(trace.steps) - trace.cycle
    if not length:
        return f"{way}."
    return f"{way}; then a cycle of {quantity(length, 'step')}, a short one."


def describe_kinds(first: Finding, others: Others) -> str:
    """How many kinds of shortest counterexamples there are, and what the further ones are."""
    steps = quantity(len(first.replayed.moments), "step")
    if not others.is_all:
        text = f"At least {quantity(others.kinds, 'kind')} of {steps}"
    elif others.kinds == 1:
        text = f"All of {steps} have the same ones in another order"
    else:
        text = f"There are {others.kinds:,} kinds of {steps}"
    if not others.findings:
        return f"{text}; none of another kind was found up to {quantity(others.steps, 'step')}."
    return f"{text}; shown are {1 + len(others.findings)} that differ in who takes which steps."
