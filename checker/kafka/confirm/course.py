"""Expected states of a trace under the release's own rules.

A trace of these rules is taken as it is. Of one of other rules the same choices are made as far as
these rules offer them, and the others are passed over: so brokers are always compared with the
model that describes them, and where the two versions part is a matter of the model alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from waterline.checker.kafka.confirm.facts import EPOCH_CACHE, Facts, differences, of_model
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.stepping import SHRINK, SHRINK_TOGETHER
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import (
    Moment,
    NotACounterexample,
    Replayed,
    Trace,
    TraceStep,
    skipping,
)
from waterline.model.core.claim import ActionProperty, Claim, Invariant
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model
from waterline.model.message.terms import with_member
from waterline.model.message.versions import version_of

_NO_MATTER = EPOCH_CACHE
"""Fact that versions keep differently; a difference in it alone is ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The steps to take, and what the model of the release's rules says of them.

    `parted_at` is the first step of the trace whose outcome is another under these rules than
    under the trace's own, 0 for none. `passed_over` are the steps that these rules do not offer.
    `breaks` is whether the claim breaks on this way.
    """

    claim: Claim
    replayed: Replayed
    model: Model
    parted_at: int
    parting: str
    passed_over: tuple[tuple[int, TraceStep], ...]
    breaks: bool

    @property
    def trace(self) -> Trace:
        """The requested trace."""
        return self.replayed.trace


def course_of(
    replayed: Replayed,
    model: Model,
    claim: Claim,
    release: KafkaRelease,
) -> Course:
    """The way of a replayed trace of `model` on brokers of `release`."""
    taken, other, parted_at, parting = replayed, model, 0, ""
    passed_over: tuple[tuple[int, TraceStep], ...] = ()
    own, traced = version_of(release.rules), version_of(replayed.trace.version)
    if (own.truncation, own.features) != (traced.truncation, traced.features):
        environment = Environment.from_options(dict(replayed.trace.environment))
        other = message_model(release.rules, environment)
        taken, passed_over = _translate(replayed, other)
        parted_at, parting = _parting(replayed, model, taken, other, passed_over, release)
    return Course(
        claim=claim,
        replayed=taken,
        model=other,
        parted_at=parted_at,
        parting=parting,
        passed_over=passed_over,
        breaks=_breaks(taken, other, claim),
    )


def _translate(
    replayed: Replayed, model: Model
) -> tuple[Replayed, tuple[tuple[int, TraceStep], ...]]:
    """The choices of a trace in another model; numbers stay those of the trace."""
    initial = model.initial[replayed.trace.initial]
    choices = replayed.moments
    if SHRINK_TOGETHER in model.contents:
        choices = tuple(_shrinking_together(choices))
    moments = tuple(skipping(choices, model, initial))
    taken = {moment.number for moment in moments}
    passed_over = tuple(
        (number, step)
        for number, step in enumerate(replayed.trace.steps, start=1)
        if number not in taken
    )
    return replace(
        replayed, narration=model.narration, initial=initial, moments=moments
    ), passed_over


def _shrinking_together(moments: Sequence[Moment]) -> Iterator[Moment]:
    """The steps, with followers that leave one after the other in one step, as Kafka takes them.

    Where the leader asks the controller it takes out all who lag in one request.
    """
    for (action, leader), run in itertools.groupby(moments, _shrinking_leader):
        first, *more = run
        if action != SHRINK or not more:
            yield from (first, *more)
            continue
        out = 0
        for moment in (first, *more):
            out = with_member(out, dict(moment.arguments)["follower"])
        named = (("leader", leader), ("followers", out))
        yield replace(first, action=SHRINK_TOGETHER, arguments=named)


def _shrinking_leader(moment: Moment) -> tuple[str, int]:
    return moment.action, dict(moment.arguments).get("leader", -1)


def _parting(
    replayed: Replayed,
    model: Model,
    taken: Replayed,
    other: Model,
    passed_over: Sequence[tuple[int, TraceStep]],
    release: KafkaRelease,
) -> tuple[int, str]:
    """Return the first step after which the versions visibly differ, and how; 0 for none."""
    by_number = {moment.number: moment for moment in taken.moments}
    missing = dict(passed_over)
    for moment in replayed.moments:
        if moment.number in missing:
            return moment.number, f"{moment} is not offered"
        theirs = _facts_of(moment.after, model, release)
        ours = _facts_of(by_number[moment.number].after, other, release)
        found = differences(theirs, ours)
        if found:
            first = found[0]
            return moment.number, f"{first.subject} {first.kafka} instead of {first.model}"
    return 0, ""


def _facts_of(state: object, model: Model, release: KafkaRelease) -> Facts:
    facts = of_model(state, model.settings, release)  # type: ignore[arg-type]  # opaque to replay
    return {subject: said for subject, said in facts.items() if not subject.endswith(_NO_MATTER)}


def _breaks(replayed: Replayed, model: Model, claim: Claim) -> bool:
    if isinstance(claim, Invariant):
        return not all(claim.holds(state, model.settings) for state in replayed.states)
    if isinstance(claim, ActionProperty):
        return not all(claim.keeps(m.before, m.after, model.settings) for m in replayed.moments)
    return claim.applies(model.settings) and _is_for_ever(replayed, model, claim)


def _is_for_ever(replayed: Replayed, model: Model, claim: Claim) -> bool:
    """True if the steps that were taken are a counterexample of a claim about behaviours."""
    taken = {moment.number for moment in replayed.moments}
    steps = enumerate(replayed.trace.steps, start=1)
    cycle = replayed.trace.cycle
    trace = replace(
        replayed.trace,
        version=model.version,
        steps=tuple(step for number, step in steps if number in taken),
        cycle=None if cycle is None else sum(number <= cycle for number in taken),
    )
    try:
        confirm_trace(trace, model, claim)
    except NotACounterexample:
        return False
    return True
