"""Claims that came with single tickets: what breaks them, what does not, and what is told then."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import agreed, edited, hand_made, model_of
from waterline.invariants import log_matching, log_matching_by_epoch, no_endless_question
from waterline.model.message.terms import LEADER, NO_ROLE, TRUNCATING

MODEL = model_of("kip320", epochs=3)
ASKS_ON = model_of("kip320-without-truncation-clears-epochs", epochs=3)
AGREED = agreed(MODEL)
"""Two records on two brokers, m1 of epoch 0 and m2 of epoch 1, below both high watermarks."""
PARTED = edited(AGREED, log={(1, 0): 2})
"""r1 has m2 where r0 has m1."""


def test_two_logs_that_differ_below_both_high_watermarks_are_told_whoever_leads() -> None:
    asks = edited(PARTED, role={1: TRUNCATING}, known_epoch={1: 0})

    assert not log_matching.CLAIM.holds(asks, MODEL.settings)
    told = log_matching.CLAIM.explain(asks, MODEL.settings)
    assert told.startswith("At offset 0 r0 has m1 and r1 has m2;")
    assert told.endswith("their high watermarks are 2 and 2.")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"hw": {0: 0}}, id="the leader's high watermark is below"),
        pytest.param({"hw": {1: 0}}, id="the follower's is"),
        pytest.param({"role": {1: NO_ROLE}, "up": {1: 0}}, id="one is down"),
        pytest.param({"log": {(1, 0): 1}}, id="the records are the same"),
    ],
)
def test_two_logs_match_where(fields: dict[str, Any]) -> None:
    assert log_matching.CLAIM.holds(edited(PARTED, **fields), MODEL.settings)


def test_logs_that_differ_below_a_record_of_one_epoch_are_told() -> None:
    """At offset 1 both have m2, of epoch 1; below it r0 has m1 and r1 another."""
    assert not log_matching_by_epoch.CLAIM.holds(PARTED, MODEL.settings)
    told = log_matching_by_epoch.CLAIM.explain(PARTED, MODEL.settings)
    assert told.startswith("At offset 0 r0 has m1 and r1 has m2,")


@pytest.mark.parametrize(
    ("fields", "matches"),
    [
        pytest.param({"role": {1: NO_ROLE}, "up": {1: 0}}, False, id="of one down too"),
        pytest.param({"hw": [0, 0]}, False, id="committed or not"),
        pytest.param({"leo": {1: 1}, "log": {(1, 0): 2, (1, 1): 0}}, True, id="no epoch in common"),
        pytest.param({"log": {(1, 0): 1, (1, 1): 2}}, True, id="the logs are the same"),
        pytest.param({"log": {(1, 0): 1, (1, 1): 1}}, True, id="they part where epochs do"),
    ],
)
def test_equal_epochs_mean_equal_logs_or_not(fields: dict[str, Any], matches: bool) -> None:
    state = edited(PARTED, **fields)

    assert log_matching_by_epoch.CLAIM.holds(state, MODEL.settings) is matches


def asking(cached: int) -> Any:
    """r1 led in epoch `cached`, wrote nothing, and asks r0, which leads in 3 and has m2 of 1."""
    return hand_made(
        MODEL,
        up=[1, 1],
        leader=0,
        isr=0b11,
        epoch=3,
        role=[LEADER, TRUNCATING],
        known_epoch=[3, 3],
        known_leader={1: 0},
        known_isr={0: 0b11},
        cached_epoch={1: cached},
        leo=[2, 1],
        log=[[1, 2], [1]],
        produced=2,
        record_epoch=[0, 1],
    )


def test_a_question_whose_answer_changes_nothing_is_endless_until_kafka_10706() -> None:
    claim = no_endless_question.CLAIM

    assert not claim.holds(asking(2), ASKS_ON.settings)
    assert claim.explain(asking(2), ASKS_ON.settings) == (
        "r1 asks r0 where epoch 2 ends; the answer is 2, for epoch 1: r1 truncates nothing, and "
        "asks the same again."
    )
    assert claim.holds(asking(2), MODEL.settings)


def test_a_question_that_both_know_the_epoch_of_is_the_last() -> None:
    assert no_endless_question.CLAIM.holds(asking(-1), ASKS_ON.settings)
    assert no_endless_question.CLAIM.holds(edited(asking(2), role={0: NO_ROLE}), ASKS_ON.settings)


@pytest.mark.parametrize(
    ("version", "by_epoch", "asks_again"),
    [
        ("hw", False, False),
        ("epoch", True, False),
        ("kip279-code", True, True),
        ("kip320", True, True),
        ("elr", True, False),
    ],
)
def test_a_claim_is_of_the_versions_that_it_means_something_in(
    version: str, by_epoch: bool, asks_again: bool
) -> None:
    settings = model_of(version).settings

    assert log_matching_by_epoch.CLAIM.applies(settings) is by_epoch
    assert no_endless_question.CLAIM.applies(settings) is asks_again
    assert log_matching.CLAIM.applies(settings)
