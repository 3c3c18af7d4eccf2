"""Chains: which steps a trace takes, which it does not, and what would have come in time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.recorded_traces import entry_trace, problem_of, replayed_in
from waterline.checker.analysis.explain.chain import Chain, chain_of
from waterline.checker.analysis.explain.rendering import (
    describe_numbers,
    describe_span,
    describe_without,
)
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.prepare import prepare
from waterline.counterexamples import Replayed, TraceStep


def test_the_loss_takes_a_record_and_both_crashes(chain: Chain) -> None:
    assert [str(cause.moment) for cause in chain.causes] == [
        "Produce(leader=0)",
        "Crash(replica=0)",
        "Crash(replica=1)",
    ]
    assert not any(cause.undecided for cause in chain.causes)


def test_what_cannot_follow_without_a_step_is_told(chain: Chain) -> None:
    assert [cause.impossible for cause in chain.causes] == [(), (11, 12), (9, 10)]
    assert describe_without(chain.causes[1], "no_committed_loss").startswith(
        "Without it steps 11 and 12 cannot follow, and no_committed_loss holds in all "
    )


def test_a_step_that_it_does_not_take_is_no_cause(loss: tuple[Problem, Replayed]) -> None:
    problem, replayed = loss
    steps = list(replayed.trace.steps)
    steps.insert(6, TraceStep("Produce", (("leader", 0),)))
    longer = replayed_in(problem, replace(replayed.trace, steps=tuple(steps)))

    chain = chain_of(problem, longer)

    # Either of the two records will do, and the later one is left out first.
    assert [moment.number for moment in chain.spared] == [7]
    assert [cause.moment.number for cause in chain.causes] == [2, 8, 9]


def test_whatever_comes_in_time_keeps_the_rest_of_the_trace_from_breaking_the_claim(
    loss: tuple[Problem, Replayed], chain: Chain
) -> None:
    problem, replayed = loss
    [claim] = problem.applicable
    ends = []
    for chance in chain.chances:
        state = chance.moment.after
        for moment in replayed.moments[chance.last :]:
            for step in problem.model.successors(state):
                if (step.action.name, step.arguments) == (moment.action, moment.values):
                    state = step.after
                    break
        ends.append(claim.holds(state, problem.model.settings))

    assert [(chance.call, chance.first, chance.last) for chance in chain.chances] == [
        ("Fence(replica=0)", 7, 9),
        ("Fence(replica=1)", 8, 8),
    ]
    assert ends == [True, True]


def test_a_claim_about_steps_is_explained_alike() -> None:
    trace = entry_trace("out-of-range-exit")
    problem = problem_of(trace)
    prepare(problem)

    chain = chain_of(problem, replayed_in(problem, trace))

    assert [str(cause.moment) for cause in chain.causes] == [
        "Move(replica=1)",
        "Produce(leader=0)",
        "Move(replica=0)",
    ]
    assert ("Learn(replica=0)", 1, 3) in {(c.call, c.first, c.last) for c in chain.chances}


def test_what_was_not_found_out_is_told_as_that(loss: tuple[Problem, Replayed]) -> None:
    problem, replayed = loss

    chain = chain_of(problem, replayed, states_max=3)

    assert all(cause.undecided for cause in chain.causes)
    assert chain.unlooked
    assert "Not known whether it happens" in describe_without(chain.causes[0], "no_committed_loss")


@pytest.mark.parametrize(
    ("numbers", "told"),
    [((4,), "4"), ((4, 5), "4 and 5"), ((1, 3, 4, 5), "1 and 3 to 5"), ((1, 2, 9), "1, 2 and 9")],
)
def test_numbers_are_told_in_spans(numbers: tuple[int, ...], told: str) -> None:
    assert describe_numbers(numbers) == told


def test_a_span_says_from_when_and_until_when(chain: Chain) -> None:
    assert [describe_span(chance) for chance in chain.chances] == [
        "after step 7 and up to step 9",
        "after step 8",
    ]
