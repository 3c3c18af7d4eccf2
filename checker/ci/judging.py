"""Comparison of results with expectations; every difference is a complaint.

A claim that is checked, not named, and comes out violated is a complaint, and so is something that
must happen and does not. INCOMPLETE never passes for anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from waterline.checker.batch.question import Answer, Trouble
from waterline.checker.ci.expectation import WITHIN_CONTRACT, Expectation, Expected
from waterline.checker.problem.distribution import require
from waterline.checker.problem.errors import Missing
from waterline.checker.problem.wording import describe_contract, printable, quantity
from waterline.checker.search.result import InvariantResult, Result, Verdict
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import Trace
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.environment import Environment

if TYPE_CHECKING:
    from waterline.checker.traces.finding import Finding

_FINE_REASONS = ("stop-at-first", "max-depth")
"""Stops that the user requested, so that they are not complaints."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """A deviation from an expectation; `claim` is the claim concerned, if any."""

    text: str
    claim: str | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Evidence:
    """A result, and a trace for each claim that is violated. `is_kept`: from an earlier run."""

    result: Result
    traces: Mapping[str, Trace]
    is_kept: bool = False

    def finding(self, claim: str) -> Finding | None:
        """The counterexample to a claim, replayed and confirmed now; None if it is not violated."""
        # Only who looks at a counterexample needs what replays one.
        if claim not in self.traces:
            return None
        problem = self.result.problem
        stated = next(each for each in problem.claims if each.name == claim)
        return confirm_trace(self.traces[claim], problem.model, stated)


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Outcome of an expectation: met, if it has no complaints.

    `answer` is None after `trouble`, which is a complaint too.
    """

    expectation: Expectation
    answer: Evidence | None
    complaints: tuple[Complaint, ...]
    trouble: Trouble | None = None

    @property
    def is_met(self) -> bool:
        """True if all is as expected."""
        return not self.complaints

    @property
    def shown_claim(self) -> str | None:
        """The claim whose counterexample says most of why it failed: the first that has one."""
        traces = self.answer.traces if self.answer else {}
        named = [c.claim for c in self.complaints if c.claim in traces]
        return named[0] if named else None


def judge(expectation: Expectation, answer: Answer) -> Outcome:
    """Compare what came out with what was expected."""
    if answer.trouble is not None:
        # What a rule of somebody's raised may be any text, and becomes XML.
        described = "\n".join(map(printable, answer.trouble.message.splitlines()))
        return Outcome(expectation, None, (Complaint(described),), answer.trouble)
    result = answer.result(expectation.problem)
    complaints = [
        *_of_claims(expectation, result),
        *_of_what_happens(expectation, result),
        *_of_counts(expectation, result),
        *_of_budgets(result),
        *_of_ties(expectation),
        *_of_proof(expectation),
        *_of_mutants(expectation),
    ]
    found = Evidence(result, answer.traces(expectation.problem), answer.is_kept)
    return Outcome(expectation, found, tuple(complaints))


def _of_claims(expectation: Expectation, result: Result) -> Iterator[Complaint]:
    for found in result.invariants:
        expected = expectation.verdicts.get(found.name)
        if expected is not None:
            yield from _of_claim(expected, found, result)
        elif found.verdict is Verdict.VIOLATED:
            described = f"violated after {quantity(found.depth or 0, 'step')}, nothing expected"
            yield Complaint(f"{found.name}: {described}", found.name)


def _of_claim(expected: Expected, found: InvariantResult, result: Result) -> Iterator[Complaint]:
    name, got = found.name, found.verdict.value
    is_violated = found.verdict is Verdict.VIOLATED
    contract = result.contract_of(name) if is_violated else None
    wanted = Verdict.VIOLATED.value if expected.verdict == WITHIN_CONTRACT else expected.verdict
    if got != wanted:
        why = f" after {quantity(found.depth or 0, 'step')}" if is_violated else ""
        if contract:
            why += f", {describe_contract(contract)}"
        if found.verdict is Verdict.INCOMPLETE:
            why = f": stopped by {result.stopped_by}"
        yield Complaint(f"{name}: expected {expected.verdict}, got {got}{why}", name)
    elif expected.verdict == WITHIN_CONTRACT and contract is None:
        described = "violated, and Kafka promises it with these settings"
        yield Complaint(f"{name}: expected {WITHIN_CONTRACT}, got {described}", name)
    if is_violated and got == wanted and expected.depth not in (None, found.depth):
        described = f"expected violated after {quantity(expected.depth or 0, 'step')}"
        yield Complaint(
            f"{name}: {described}, got after {quantity(found.depth or 0, 'step')}", name
        )


def _of_what_happens(expectation: Expectation, result: Result) -> Iterator[Complaint]:
    for claim in result.reachable:
        if claim.name in expectation.never:
            if claim.depth is not None:
                described = f"{claim.description}, and is expected never to happen"
                yield Complaint(f"{claim.name} happens {described}")
        elif claim.depth is None and result.complete and not expectation.is_partial:
            yield Complaint(f"{claim.name} was never reached")
    yield from _of_actions(expectation, result)
    if expectation.is_partial and result.complete and not result.violated:
        # What says whether a fault was met is of the matrix, and few gates have a configuration.
        from waterline.checker.kafka.matrix.outcome import vacuity  # noqa: PLC0415

        never = tuple(claim.name for claim in result.reachable if claim.depth is None)
        circumstances = Environment.from_options(dict(result.problem.model.options))
        if empty := vacuity(circumstances, never, result.fired):
            yield Complaint(f"it says less than it seems: {empty}")


def _of_actions(expectation: Expectation, result: Result) -> Iterator[Complaint]:
    """Complain of an action that is taken against `never`, and in a strict gate of one that is not.

    A gate of a configuration is about one fault at a time, whose occurrence is judged by itself. An
    action with a budget of 0 cannot be taken, and one of other versions is none of this model.
    """
    claims = {claim.name for claim in result.reachable}
    for name in expectation.never:
        if result.fired.get(name, 0) and name not in claims:
            yield Complaint(f"{name} is taken, and is expected never to be")
    if expectation.strict and result.complete and not expectation.is_partial:
        for name in untaken_actions(result):
            if name not in expectation.never:
                yield Complaint(f"{name} was never taken; raise a bound, or name it in never")


def untaken_actions(result: Result) -> Iterator[str]:
    """The actions of this model that were never taken, but for those with a budget of 0."""
    model = result.problem.model
    for action in model.actions:
        is_part = action.name in model.contents and result.spent_budget(action.name) is None
        if is_part and not result.fired.get(action.name, 0):
            yield action.name


def _of_counts(expectation: Expectation, result: Result) -> Iterator[Complaint]:
    for name, expected in expectation.counts.items():
        got = count_of(result, name)
        if not result.complete:
            yield Complaint(f"{name}: expected {expected:,}, unknown: {result.stopped_by}")
        elif got != expected:
            yield Complaint(f"{name}: expected {expected:,}, got {got:,}")


def count_of(result: Result, name: str) -> int:
    """Return one of the counts that may be expected."""
    return {
        "distinct": result.distinct,
        "generated": result.generated,
        "depth": result.depth,
    }[name]


def _of_budgets(result: Result) -> Iterator[Complaint]:
    reason = result.stopped_by
    if reason is not None and not reason.startswith(_FINE_REASONS):
        yield Complaint(f"it was stopped by {reason} before every state was explored")


def _of_ties(expectation: Expectation) -> Iterator[Complaint]:
    """Judge the ties as they are now: a kept answer says nothing of them."""
    if not expectation.ties:
        return
    # Few gates ask for ties.
    from waterline.checker.ties.ties import ties_of_problem  # noqa: PLC0415

    try:
        ties = ties_of_problem(expectation.problem)
    except (BadEnvironment, Missing) as problem:
        yield Complaint(str(problem))
        return
    yield from (Complaint(printable(str(tie))) for tie in ties if not tie.is_fine)


def _of_proof(expectation: Expectation) -> Iterator[Complaint]:
    """Prove what is expected to be proved: a kept answer says nothing of it."""
    if not expectation.proved:
        return
    try:
        require("z3", "prove", "proved = true")
    except Missing as problem:
        yield Complaint(str(problem))
        return
    # Few gates ask for a proof, and the solver takes a while to load.
    from waterline.checker.ci.proving import reasons_against  # noqa: PLC0415

    yield from (Complaint(printable(reason)) for reason in reasons_against(expectation))


def _of_mutants(expectation: Expectation) -> Iterator[Complaint]:
    """Judge the mutants of the model: a kept answer says nothing of them."""
    if not expectation.mutants:
        return
    # Few gates ask for mutants.
    from waterline.checker.ci.mutating import survivors_in  # noqa: PLC0415

    yield from (Complaint(printable(each)) for each in survivors_in(expectation))
