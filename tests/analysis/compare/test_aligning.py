"""Which step of one version stands beside which of the other, and that both are real."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

from tests.support.recorded_traces import LOSS, entry_trace
from waterline.checker.analysis.compare.aligning import How
from waterline.checker.analysis.compare.comparison import Comparison, compare_models
from waterline.checker.analysis.compare.document import comparison_value
from waterline.checker.analysis.compare.rendering import render_comparison
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE
from waterline.counterexamples import read_trace, replay, trace_of
from waterline.model.message.environment import Environment
from waterline.model.message.versions import VERSIONS, base_of

Compare = Callable[..., Comparison]
ONE_OF_EACH = {base_of(entry.falls[0]): entry.name for entry in reversed(CATALOGUE) if entry.falls}
"""For versions the first entry whose trace is of it, or of it with a rule taken out or added."""


def how(comparison: Comparison) -> list[tuple[How, str, str]]:
    """The pairs that are not the same step: what it is, ours, theirs."""
    return [
        (pair.how, str(pair.ours or ""), str(pair.theirs or ""))
        for pair in comparison.pairs
        if pair.how is not How.SAME
    ]


@pytest.mark.parametrize("left", ONE_OF_EACH)
def test_every_version_is_beside_every_other_and_each_side_is_a_path_of_its_own(
    left: str, compare: Compare
) -> None:
    trace = entry_trace(ONE_OF_EACH[left])
    for version in VERSIONS:
        comparison = compare(trace, version)
        model = comparison.right.model
        theirs = [pair.theirs for pair in comparison.pairs if pair.theirs]
        again = trace_of(model, trace.invariant, [(m.action, m.values) for m in theirs])
        replayed = replay(again, model)
        for width in (80, 160):
            Console(file=StringIO(), width=width).print(render_comparison(comparison))
        json.dumps(comparison_value(comparison))

        ours = tuple(pair.ours for pair in comparison.pairs if pair.ours)
        assert ours == comparison.replayed.moments
        assert replayed.states[1:] == tuple(moment.after for moment in theirs)
        assert comparison.states_after(len(comparison.pairs))[1] == replayed.states[-1]


def test_there_is_an_entry_of_most_versions() -> None:
    assert len(set(ONE_OF_EACH) & set(VERSIONS)) > 6


def test_what_a_version_has_to_do_first_is_inserted(compare: Compare) -> None:
    comparison = compare(read_trace(LOSS), "elr")

    # Under KRaft a broker comes back only after it was fenced.
    assert how(comparison)[0] == (How.INSERTED, "", "Fence(replica=1)")
    numbers = [pair.ours.number for pair in comparison.pairs if pair.ours]
    assert numbers == list(range(1, 13))
    assert comparison.place(9) == "before step 9"


def test_an_answer_of_another_kind_takes_the_place_of_records(compare: Compare) -> None:
    comparison = compare(entry_trace("kip-279-as-released"), "truncate-on-fetch")

    assert how(comparison) == [
        (How.MISSING, "OffsetForLeaderEpoch(follower=1)", ""),
        (How.INSTEAD, "RecvFetch(follower=1)", "RecvDiverging(follower=1)"),
    ]
    assert comparison.pairs[8].why == "OffsetForLeaderEpoch is not part of truncate-on-fetch"


def test_an_election_with_a_choice_takes_the_place_of_one_without(compare: Compare) -> None:
    comparison = compare(entry_trace("weak-period"), election_order="any")

    assert (How.INSTEAD, "Fence(replica=0)", "FenceAndElect(replica=0, winner=1)") in how(
        comparison
    )


def test_a_power_loss_takes_what_comes_nearest() -> None:
    bounds = {**Environment().options(), "restarts": 0, "power-losses": 1}
    left = MESSAGE.problem("hw", bounds, ["no_committed_loss"])
    right = MESSAGE.problem("hw", {**bounds, "records": 1}, ["no_committed_loss"])
    calls = [("Produce", (0,)), ("Produce", (0,)), ("PowerLoss", (0, 1))]
    replayed = replay(trace_of(left.model, "no_committed_loss", calls), left.model)

    assert how(compare_models(left, replayed, right)) == [
        (How.MISSING, "Produce(leader=0)", ""),
        (How.INSTEAD, "PowerLoss(replica=0, end=1)", "PowerLoss(replica=0, end=0)"),
    ]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"replicas": 1}, "there is no follower 1"),
        ({"restarts": 1}, "it is beyond the bound on restarts"),
        ({"epochs": 0}, "it is beyond the bound on epochs"),
    ],
)
def test_what_is_beyond_a_bound_is_passed_over(
    settings: dict[str, int], why: str, compare: Compare
) -> None:
    comparison = compare(read_trace(LOSS), **settings)

    assert why in [pair.why for pair in comparison.pairs if pair.how is How.MISSING]
