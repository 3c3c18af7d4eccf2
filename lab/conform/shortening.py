"""Delta debugging of a conformance walk that shows a disagreement."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from lab.conform.steerable import Steerable
from lab.conform.walking import Walked, following
from waterline.checker.kafka.confirm.stepping import StepSeen
from waterline.counterexamples import TraceStep

Sign = tuple[str, tuple[str, ...]]


def sign_of(seen: StepSeen) -> Sign:
    """Return the key of a disagreement: the action, and the facts that differ or the failure.

    The broker and the values are not part of it.
    """
    action = seen.call.partition("(")[0]
    if seen.problem:
        return action, (re.sub(r"\d+", "#", seen.problem),)
    kinds = {re.sub(r"^r\d+ ", "", each.subject) for each in seen.differences}
    return action, tuple(sorted(kinds))


def shorten(
    walked: Walked,
    steerable: Steerable,
    again: Callable[[Sequence[TraceStep]], Walked],
    *,
    tries_max: int,
    report: Callable[[str], None],
) -> Walked:
    """The shortest walk with the same disagreement that so many tries find.

    `again` takes steps on brokers, `steerable` says which can be taken. Larger pieces are left out
    first, then smaller ones; what the model does not offer without them is left out too.
    """
    assert walked.disagreement is not None
    sign = sign_of(walked.disagreement)
    best = walked
    tries = 0
    size = len(best.steps) // 2
    while size:
        at = 0
        while at < len(best.steps) - 1 and tries < tries_max:
            kept = possible([*best.steps[:at], *best.steps[at + size :]], steerable)
            if len(kept) >= len(best.steps) or not kept or kept[-1] != best.steps[-1]:
                at += size
                continue
            tries += 1
            report(f"shortening: {len(kept)} of {len(best.steps)} steps, try {tries}")
            found = again(kept)
            if found.disagreement is not None and sign_of(found.disagreement) == sign:
                best = found
            else:
                at += size
        size //= 2
    return best


def possible(steps: Sequence[TraceStep], steerable: Steerable) -> list[TraceStep]:
    """Return the steps that the model offers, one after the other."""
    choose = following(steps)
    state, silent = steerable.model.initial[0], 0
    taken: list[TraceStep] = []
    while (moment := choose(steerable.offers(state, len(taken) + 1, silent), silent)) is not None:
        taken.append(TraceStep(moment.action, moment.arguments))
        silent = steerable.silent_after(moment, silent)
        state = moment.after
    return taken
