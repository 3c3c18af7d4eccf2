"""In words: how many counterexamples are as short as the one that is shown, and why this one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.problems.wording import counted

if TYPE_CHECKING:
    from checker.another import Others
    from checker.finding import Finding


def told_alike(finding: Finding, names: str = "") -> str:
    """That no trace is shorter, how many states break the claim so early, and after what faults."""
    assert finding.breaking is not None
    states, faults = finding.breaking.states, finding.breaking.faults
    steps = counted(len(finding.replayed.moments), "step")
    number = counted(states, "state") + names
    if finding.breaking.of_steps:
        told = f"a step out of {number} breaks the claim"
    else:
        told = f"{number} at that depth break{'s' if states == 1 else ''} the claim"
    least = "" if faults is None else f", {counted(faults, 'fault')} at the least"
    return f"Shortest: {steps}{least}; {told}."


def told_kinds(first: Finding, others: Others) -> str:
    """How many kinds of shortest counterexamples there are, and what the further ones are."""
    steps = counted(len(first.replayed.moments), "step")
    if not others.is_all:
        told = f"At least {counted(others.kinds, 'kind')} of {steps}"
    elif others.kinds == 1:
        told = f"All of {steps} have the same ones in another order"
    else:
        told = f"There are {others.kinds:,} kinds of {steps}"
    if not others.findings:
        return f"{told}; none of another kind was found up to {counted(others.steps, 'step')}."
    return f"{told}; shown are {1 + len(others.findings)} that differ in who takes which steps."
