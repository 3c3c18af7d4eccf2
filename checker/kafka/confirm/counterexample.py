"""The counterexample of a catalogue's entry that is shown on brokers of a release."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from waterline.checker.checking.run import run
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.stepping import SHRINKS
from waterline.checker.kafka.families import MESSAGE, family_of
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.problem.problem import Problem, asked_alone
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Budgets
from waterline.checker.traces.finding import Finding, confirm_trace
from waterline.counterexamples import BadTrace, Moment, read_trace
from waterline.model.core.claim import Claim
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.environment import Environment
from waterline.model.message.terms import ANSWERED
from waterline.model.message.versions import released_as, version_of


class NotFound(CannotConfirm):
    """The claim is not broken within the bounds."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A finding, and the problem that it answers."""

    problem: Problem
    finding: Finding

    @property
    def claim(self) -> Claim:
        """The only claim of the problem."""
        return asked_alone(self.problem)


def ways_shown(
    scenario: Scenario, rules: str, announce: Callable[[str], None]
) -> Iterator[Counterexample]:
    """Yield the shortest counterexample, then one without ISR shrinks if there is one.

    The second serves brokers that remove all lagging followers at once, where the first removes one
    follower and keeps another. Raises as `search` does.
    """
    shortest = search(scenario, rules, announce)
    yield shortest
    if any(step.action in SHRINKS for step in shortest.finding.replayed.trace.steps):
        with suppress(NotFound):
            yield search(scenario, rules, announce, without=SHRINKS)


def search(
    scenario: Scenario,
    rules: str,
    announce: Callable[[str], None],
    *,
    always: bool = False,
    without: Collection[str] = (),
) -> Counterexample:
    """The shortest counterexample of a scenario under these rules, if they break its claim.

    `without` names actions that are not to be in it.

    Of rules without a name, which the catalogue does not speak of, it is searched for. Else that of
    the first version that breaks it; with `always` under these rules in any case. Raises
    `KeyboardInterrupt` where the search is interrupted, and `NotFound`.
    """
    if not always and released_as(version_of(rules)) is None:
        with suppress(NotFound):
            return search(scenario, rules, announce, always=True, without=without)
    own = version_of(rules)
    fitting = (
        name
        for name in scenario.falls
        if (version_of(name).truncation, version_of(name).features)
        == (own.truncation, own.features)
    )
    version = rules if always else next(fitting, scenario.first)
    environment = scenario.environment
    found = _find(scenario, version, environment, announce, without)
    moved = any(map(moves_with_records, found.finding.replayed.moments))
    if moved and environment.hw_in_response != "pre":
        # The code answers such a fetch with the high watermark of before it: what the catalogue
        # tells as most descriptions do is shown as Kafka does it.
        with suppress(NotFound):
            as_coded = replace(environment, hw_in_response="pre")
            return _find(scenario, version, as_coded, announce, without)
    return found


def _find(
    scenario: Scenario,
    version: str,
    environment: Environment,
    announce: Callable[[str], None],
    without: Collection[str],
) -> Counterexample:
    lacking = f" without {', '.join(sorted(without))}" if without else ""
    announce(f"searching for {scenario.name} under {version}{lacking}")
    problem = MESSAGE.problem(version, environment, [scenario.claim])
    contents = tuple(name for name in problem.model.contents if name not in without)
    asked = replace(problem, model=replace(problem.model, contents=contents))
    done = run(asked, EngineChoice(name="local"), budgets=Budgets(stop_at_first=True))
    if done.result.interrupted:
        raise KeyboardInterrupt
    if not done.findings:
        raise NotFound(
            f"{scenario.claim} holds under {version}: {scenario.name} has no counterexample there "
            "that could be replayed"
        )
    return Counterexample(problem, done.findings[0])


def moves_with_records(moment: Moment) -> bool:
    """True if a fetch brings records and moves the leader's high watermark."""
    if moment.action != "LeaderFetch":
        return False
    [follower] = moment.values
    leader = moment.before.known_leader[follower]
    brings = moment.after.fetch[follower] == ANSWERED and moment.after.answer_log[follower, 0]
    return bool(brings) and moment.after.hw[leader] != moment.before.hw[leader]


def load_counterexample(path: Path) -> Counterexample:
    """The counterexample in a file, seen to be one."""
    trace = read_trace(path)
    try:
        family = family_of(trace.model)
        if family is not MESSAGE:
            raise BadTrace(
                f"{path} is a trace of {trace.model}, whose steps are no requests; "
                f"one of {MESSAGE.model} can be replayed on brokers"
            )
        problem = family.problem(trace.version, trace.environment, [trace.invariant])
    except BadEnvironment as found:
        raise BadTrace(f"{path}: {found}") from None
    claim = asked_alone(problem)
    return Counterexample(problem, confirm_trace(trace, problem.model, claim))
