"""Findings: traces that are replayed and confirmed, and those to a rule that raises.

The trace leads to the state where an action or a claim raises; for a claim about steps it includes
that step. Interpreted rules identify the error there, and raise it again whenever the trace is
replayed.

The same for a trace that a search found and for one that was recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from waterline.checker.problem.family import words_of
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import WHERE
from waterline.checker.problem.wording import quantity
from waterline.checker.search.fault_count import faults_in
from waterline.checker.search.rule_errors import (
    Disagreement,
    Failure,
    Raised,
    attempt,
    failure_in,
    failure_of_claim,
)
from waterline.counterexamples import (
    NO_CLAIM,
    NotACounterexample,
    Replayed,
    Trace,
    Trapped,
    confirm,
    confirm_lasso,
    confirm_step,
    confirm_stuck,
    describe_cycle,
    replay,
    trace_of,
)
from waterline.model.core.claim import (
    ActionProperty,
    Claim,
    Invariant,
    Judged,
    Pattern,
    Recoverable,
    Temporal,
    fair_actions,
    strongly_fair_actions,
    ways_back,
)
from waterline.model.core.state import State
from waterline.model.core.transition_system import Arguments, Call, Model, Step

if TYPE_CHECKING:
    from waterline.checker.traces.violating_states import Breaking, Path


SENTENCE = "A rule is no rule here: it raises an error."
_WHERE_CLAIM = "nowhere"


def raising_at(
    problem: Problem, initial: int, calls: tuple[Call, ...]
) -> tuple[Finding, Raised] | None:
    """Return the trace to a state that raises, and the error; None if no rule raises there.

    It takes these calls from the initial state of this number.
    """
    model = problem.model
    claim = _WHERE_CLAIM if WHERE in model.options else NO_CLAIM
    there = replay(trace_of(model, claim, calls, initial=initial), model)
    failure = failure_in(problem, there.states[-1])
    if failure is None:
        return None
    if model.concretise is not None:
        # What raises in a state in normal form does in each that has it.
        whole = (*calls, failure.call) if failure.call else calls
        bounded, taken = model.concretise(initial, whole)
        steps = tuple(taken)[: len(calls)]
        return raising_at(replace(problem, model=bounded), initial, steps)
    whole = (*calls, failure.call) if failure.claim and failure.call else calls
    raises = failure.claim or failure.call
    trace = trace_of(model, claim, whole, initial=initial, raises=raises)
    return confirm_raising(trace, problem), Raised(failure, model, there.states[-1])


def confirm_raising(trace: Trace, problem: Problem) -> Finding:
    """Replay `trace`, and see that what it names raises in the end.

    Raises `NotACounterexample` otherwise, and whatever `counterexamples.replay` raises.
    """
    model = problem.model
    replayed = replay(trace, model)
    failure = _failure(replayed, problem)
    if failure is None:
        raise NotACounterexample(
            len(replayed.moments), f"nothing raises an error after step {len(replayed.moments)}"
        )
    return Finding(trace.invariant, SENTENCE, replayed, failure.describe(model), model)


def _failure(replayed: Replayed, problem: Problem) -> Failure | None:
    model, raises = problem.model, replayed.trace.raises
    last = replayed.moments[-1] if replayed.moments else None
    state = replayed.states[-1]
    if isinstance(raises, str):
        before = last.before if last is not None else None
        step = _step(model, before, last.action, last.values) if last is not None else None
        return failure_of_claim(problem, raises, state, step, before)
    assert raises is not None
    if raises.action not in model.contents:
        return None
    action = model.action(raises.action)
    given = dict(raises.arguments)
    values = tuple(given.get(parameter.name, -1) for parameter in action.parameters)
    if values not in model.bindings(action):
        return None
    tried = attempt(model, state, action, values)
    return tried if isinstance(tried, Failure) else None


def _step(model: Model, before: object, action: str, values: tuple[int, ...]) -> Step | None:
    taken = attempt(model, before, model.action(action), values)  # type: ignore[arg-type]
    return taken if isinstance(taken, Step) else None


@dataclass(frozen=True, slots=True)
class Finding:
    """A violated claim: a trace to where it breaks, replayed in `model`, and an explanation.

    `breaking` holds a search's further knowledge: how many states break it at this depth.
    """

    invariant: str
    sentence: str
    replayed: Replayed
    explanation: str
    model: Model = field(repr=False, compare=False)
    breaking: Breaking | None = None

    def describe_alike(self, names: str = "") -> str:
        """Return a note that no trace is shorter, with the number of such states and their faults.

        For an infinite trace: that no way to its cycle is shorter. "" if no search has found it.
        """
        if self.replayed.trace.cycle is not None:
            return _describe_lasso(self.replayed.trace)
        if self.breaking is None:
            return ""
        states, faults = self.breaking.states, self.breaking.faults
        steps = quantity(len(self.replayed.moments), "step")
        number = quantity(states, "state") + (f"{names}," if names else "")
        if self.breaking.of_steps:
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


def finding_at(model: Model, claim: Judged | Recoverable, path: Path) -> Finding:
    """The counterexample that `path` is, or, for a property, that ends a step behind it.

    Raises as `confirm_trace` does, and `Disagreement`.
    """
    trace = trace_of(model, claim.name, path.calls, initial=path.initial)
    calls = path.calls
    if isinstance(claim, ActionProperty):
        before = replay(trace, model).states[-1]
        calls = (*calls, _breaking_call(model, before, claim))
    if model.concretise is not None and not (
        isinstance(claim, Recoverable) or claim.about_abstraction
    ):
        # A way back may take more than the calls of the trace: it is seen without bounds alone.
        model, whole = model.concretise(path.initial, calls)
        calls = tuple(whole)
    trace = trace_of(model, claim.name, calls, initial=path.initial)
    return confirm_trace(trace, model, claim)


def _breaking_call(model: Model, before: State, claim: ActionProperty) -> tuple[str, Arguments]:
    """Return the step out of `before` that breaks the claim with the fewest faults.

    Ties are broken by the table of contents, then by the arguments.
    """
    breaking = [
        step
        for step in model.successors(before)
        if not claim.keeps(before, step.outcome, model.settings)
    ]
    if breaking:
        step = min(breaking, key=lambda step: faults_in(model, step.after))
        return step.action.name, step.arguments
    raise Disagreement(f"compiled, a step out of {before} breaks {claim.name}; interpreted, none")


def confirm_trace(trace: Trace, model: Model, claim: Claim) -> Finding:
    """Replay `trace`; see that its last state, or its last step, is the first to break `claim`.

    Of a claim about behaviours: that no way leads back from its last state, or that what repeats is
    fair and breaks the claim.

    Raises `NotACounterexample` otherwise, and whatever `counterexamples.replay` raises. Of a trace
    that claims nothing (`NO_CLAIM`) nothing is to be seen but that it can be replayed.
    """
    settings = model.settings
    if trace.invariant == NO_CLAIM:
        return Finding(NO_CLAIM, claim.sentence, replay(trace, model), "", model)
    if isinstance(claim, Invariant):
        replayed = confirm(trace, model, lambda state: claim.holds(state, settings))
        explanation = claim.explain(replayed.states[-1], settings)
    elif isinstance(claim, Recoverable):
        replayed, explanation = _replay_stuck(trace, model, claim)
    elif isinstance(claim, Temporal):
        replayed, explanation = _for_ever(trace, model, claim)
    else:
        replayed = confirm_step(trace, model, lambda s, t: claim.keeps(s, t, settings))
        last = replayed.moments[-1]
        explanation = claim.explain(last.before, last.after, settings)
    return Finding(claim.name, claim.sentence, replayed, explanation, model)


RULE_ERROR = "rule-error"
"""The name in place of the claim in the file of a trace that ends in an error: no claim has it."""


def file_claim(finding: Finding) -> str:
    """Return the claim's name for a file name."""
    return finding.invariant if finding.replayed.trace.raises is None else RULE_ERROR


def trace_name(problem: Problem, invariant: str, another: int = 0) -> str:
    """`hw-no_committed_loss-2r2n2e.json`: version, claim, bounds; before it a grain's name.

    Of a further counterexample its number is behind it, as `-another1`.
    """
    words, model = words_of(problem), problem.model
    further = f"another{another}" if another else ""
    text = (f"{words.prefix}{model.version}", invariant, words.letters(model), further)
    return "-".join(part for part in text if part) + ".json"


def _replay_stuck(trace: Trace, model: Model, claim: Recoverable) -> tuple[Replayed, str]:
    settings, by = model.settings, ways_back(claim, model.enabled_actions)
    replayed, trapped = confirm_stuck(
        trace, model, by=by, good=lambda state: claim.good(state, settings)
    )
    last = replayed.states[-1]
    if not claim.when(last, settings):
        raise NotACounterexample(
            len(replayed.moments), f"{claim.name} says nothing of the state after the last step"
        )
    return replayed, f"{claim.explain(last, settings)} {describe_trapped(trapped, by)}"


def describe_trapped(trapped: Trapped, by: Sequence[str]) -> str:
    """Describe the obstacle: the actions that no reachable state enables."""
    never = [name for name in by if name not in trapped.enabled]
    if not trapped.enabled:
        return f"None of these steps is enabled there: {', '.join(by) or 'there are none'}."
    more = "" if trapped.is_whole else " that were looked at"
    text = f"No way back from there: {quantity(trapped.states, 'state')}{more} can be reached"
    return f"{text}, none of which enables {', '.join(never)}." if never else f"{text}, none good."


def _for_ever(trace: Trace, model: Model, claim: Temporal) -> tuple[Replayed, str]:
    settings = model.settings

    def breaks(states: Sequence[State], cycle: int) -> bool:
        waits = [not claim.then(state, settings) for state in states]
        if claim.pattern is Pattern.EVENTUALLY:
            return all(waits)
        if claim.pattern is Pattern.ALWAYS_EVENTUALLY:
            return all(waits[cycle:])
        # Of the states from the last `then` on; all of them, if there is none, as it never comes.
        first = next((i + 1 for i in reversed(range(len(waits))) if not waits[i]), 0)
        return first <= cycle and any(claim.when(state, settings) for state in states[first:])

    fair = fair_actions(model.enabled_actions)
    strongly = strongly_fair_actions(model.enabled_actions)
    replayed = confirm_lasso(trace, model, fair=fair, strongly_fair=strongly, breaks=breaks)
    last = len(replayed.moments)
    begins = trace.cycle if trace.cycle is not None else last
    if begins == last:
        text = f"It stays there for ever: {model.narration.stands_still}."
    else:
        text = f"{describe_cycle(begins, last)}."
    return replayed, f"{claim.explain(replayed.states[begins], settings)} {text}"
