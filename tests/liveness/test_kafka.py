"""Kafka's claims about behaviours: the engine against the plain oracle, and what breaks each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lab.documents import recovery
from tests.support.states import exchange, model_of
from tests.support.states import run as reached
from tests.support.temporal_oracle import explored, for_ever, no_way_back
from waterline import invariants
from waterline.checker.checking.run import Run, run
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Verdict
from waterline.invariants.way_back import BY
from waterline.model.core.claim import Recoverable, fair_actions
from waterline.model.message.contents import ACTIONS
from waterline.model.message.environment import DECLARED, DOCUMENTED, FAULTS

DOCUMENT = Path(__file__).parents[2] / "docs" / "results/recovery.md"
TINY = {"records": 1, "epochs": 1, "restarts": 1}
ENDLESS = {"records": 1, "unbounded": True}
"""As many epochs, crashes and produced records as one likes, but finitely many."""
CLAIMS = {claim.name: claim for claim in invariants.BEHAVIOURS}


def problem_of(version: str, options: Mapping[str, object]) -> Problem:
    return MESSAGE.problem(version, {**DOCUMENTED.options(), **options}, list(CLAIMS))


@pytest.mark.parametrize("version", ["hw", "kip320-code", "elr"])
def test_the_engine_says_what_the_definitions_say(version: str) -> None:
    """At bounds that are small enough for the oracle, and that cut; the others in tests/verify."""
    require_as_defined(run(problem_of(version, TINY), EngineChoice(name="local", threads=1)))


@pytest.mark.parametrize("version", ["epoch", "kip320-code", "kraft-without-fenced-check"])
def test_without_bounds_the_same_claims_break_as_early(version: str) -> None:
    within = run(problem_of(version, {}), EngineChoice(name="local", threads=1))
    found = run(problem_of(version, ENDLESS), EngineChoice(name="local", threads=1))

    broken = {result.name: result.depth for result in within.result.violated}
    assert {result.name: result.depth for result in found.result.violated} == broken


def test_moves_for_ever_would_keep_a_decision_from_being_learned() -> None:
    problem = problem_of("kip320", {**ENDLESS, "restarts": 0, "moves": 1})
    for_ever_too = replace(problem, model=replace(problem.model, finitely_often=()))

    broken = [
        {result.name for result in run(each, EngineChoice(name="local", threads=1)).result.violated}
        for each in (problem, for_ever_too)
    ]

    finite = {*problem.model.finitely_often}
    assert {"Produce", "Crash", "Move"} <= finite
    assert not finite & {*fair_actions(problem.model.enabled_actions)}
    assert broken == [set(), {"decisions_learned"}]


def require_as_defined(found: Run) -> None:
    """The verdicts and counterexamples are those of the plain oracle."""
    space = explored(found.result.problem.model)
    findings = {finding.invariant: finding for finding in found.findings}
    verdicts = {each.name: each for each in found.result.invariants if each.name in CLAIMS}

    assert len(space.states) == found.result.distinct
    for name, told in verdicts.items():
        claim = CLAIMS[name]
        if told.verdict is Verdict.NOT_APPLICABLE:
            assert not claim.applies(space.model.settings)
        elif isinstance(claim, Recoverable):
            answer = no_way_back(space, claim)
            assert (told.verdict is Verdict.VIOLATED) == bool(answer.lost)
            assert told.unjudged == len(answer.not_judged)
            if answer.lost:
                assert findings[name].replayed.states[-1] in answer.lost
                assert told.depth == space.depth[answer.lost[0]]
        else:
            components = for_ever(space, claim)
            assert (told.verdict is Verdict.VIOLATED) == bool(components)
            if components:
                replayed = findings[name].replayed
                cycle = set(replayed.states[replayed.trace.cycle :])
                assert any(cycle <= component for component in components)


BROKEN: dict[tuple[str, tuple[tuple[str, object], ...]], set[str]] = {
    ("hw", (("records", 1), ("min-insync-replicas", 2))): {
        "writes_again",
        "isr_whole_again",
        "logs_agree_again",
        "acknowledged_readable_again",
        "decisions_learned",
    },
    ("elr", (("records", 1),)): {
        "leader_again",
        "acknowledged_readable_again",
        "producers_answered",
        "high_watermark_catches_up",
    },
    ("kraft-without-fenced-check", (("records", 1),)): set(),
    ("epoch", (("restarts", 1), ("unclean-leader-election", True))): {
        "acknowledged_readable_again",
        "logs_agree_again",
        "divergence_ends",
    },
    ("kip320-code", (("restarts", 1), ("moves", 2), ("epochs", 3))): {
        "isr_whole_again",
        "logs_agree_again",
        "truncation_ends",
        "decisions_learned",
        "live_broker_rejoins",
    },
}
"""By version and circumstances which claims break. All others hold there."""


@pytest.mark.parametrize(("version", "options"), BROKEN, ids=str)
def test_a_claim_breaks_where_a_rule_is_missing(
    version: str, options: tuple[tuple[str, object], ...]
) -> None:
    found = run(problem_of(version, dict(options)), EngineChoice(name="local", threads=1))

    broken = {result.name for result in found.result.violated}
    assert broken == BROKEN[version, options]
    assert {finding.invariant for finding in found.findings} == broken
    assert all(finding.explanation for finding in found.findings)


def test_each_claim_holds_somewhere_and_breaks_somewhere() -> None:
    assert set.union(*BROKEN.values()) == set(recovery.NAMES)
    assert all(any(name not in broken for broken in BROKEN.values()) for name in CLAIMS)


def test_no_fault_is_fair_and_no_election_that_an_operator_asks_for_leads_back() -> None:
    faults = {DECLARED[name].steps[0] for name in FAULTS}
    fair = {action.name for action in ACTIONS if action.weakly_fair}

    assert not faults & set(BY)
    assert not fair & {"Produce", "Consume", "Restart", "Move", "MarkClean", "ReadLate"}
    assert {"SendFetch", "LeaderFetch", "RecvFetch", "Learn", "Fence", "ShrinkIsr"} <= fair


@pytest.mark.parametrize("version", ["kraft", "elr"])
def test_a_request_that_crosses_with_a_shutdown_leaves_a_record_unanswered(version: str) -> None:
    """The leader has not heard that its follower goes, as on a broker: some milliseconds do."""
    model = model_of(version, epochs=3, shutdowns=1, restarts=0)
    led = reached(
        model,
        "Produce leader=0",
        "ShrinkIsr leader=0 follower=1",
        "AlterPartition leader=0",
        *(["Learn replica=0", "Learn replica=1"] if version == "kraft" else []),
        *exchange(1),
        "SendFetch follower=1",
        "LeaderFetch follower=1",
    )
    gone = reached(
        model,
        "Produce leader=0",
        "BeginShutdown replica=1",
        "AlterPartition leader=0",
        "Stop replica=1",
        "Fence replica=1",
        "Checkpoint replica=0",
        start=led,
    )

    assert led.acked == 0b1
    assert gone.unanswered[0] == 0b10
    assert not [str(step) for step in model.successors(gone) if step.action.weakly_fair]


# The page.


def test_the_page_has_a_section_for_each_fault() -> None:
    varied = {option for options in recovery.CIRCUMSTANCES.values() for option in options}

    left_out = {"reassignments", "taken-directories", "failed-directories", "min-isr-writes"}
    assert {name.replace("_", "-") for name in FAULTS} - left_out <= varied


def test_the_page_tells_which_claims_there_are_and_what_they_rely_on() -> None:
    text = DOCUMENT.read_text()

    assert recovery.of_claims() in text
    assert recovery.of_steps() in text


@pytest.mark.parametrize("version", ["hw", "elr"])
def test_the_page_says_what_is_found(version: str) -> None:
    """Two columns of one table; `python -m lab.documents.recovery` makes all of it."""
    section = DOCUMENT.read_text().split("### Documented\n")[1].split("\n### ")[0]
    head, _, *rows = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)
    column = head.split(" | ").index(f"`{version}`")
    told = {row.split(" | ")[0].strip("`"): row.split(" | ")[column] for row in rows}

    found = recovery.cells(recovery.explored(version, {}))
    assert {name: str(found[name]) for name in told} == told
    assert all(found[name].verdict is not Verdict.VIOLATED for name in found.keys() - told.keys())
