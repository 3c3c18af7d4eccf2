"""Claims about what follows: which states are good, which wait, and what is told of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import agreed, edited, model_of
from waterline import invariants
from waterline.model.core.claim import Recoverable, Temporal, predicates_of
from waterline.model.message.terms import NO_ROLE, TRUNCATING

MODEL = model_of("kip320", epochs=3, min_insync_replicas=2)
AGREED = agreed(MODEL)
"""Two records on two brokers, committed and acknowledged: nothing is left to come."""
CLAIMS = {claim.name: claim for claim in invariants.BEHAVIOURS}
DOWN = {"role": {1: NO_ROLE}, "up": {1: 0}, "known_epoch": {1: -1}, "hw": {1: 0}}
ALONE = {"isr": 0b01, "known_isr": {0: 0b01}}
PARTED = {"log": {(1, 1): 1}}
BEHIND = {"hw": {0: 1}}


def is_met(name: str, fields: dict[str, Any]) -> bool:
    """Whether a state is one that the claim waits for."""
    _, other = predicates_of(CLAIMS[name])
    return bool(other(edited(AGREED, **fields), MODEL.settings))


@pytest.mark.parametrize("name", CLAIMS)
def test_where_all_is_well_nothing_is_left_to_come(name: str) -> None:
    assert is_met(name, {})


@pytest.mark.parametrize(
    ("name", "fields", "told"),
    [
        ("leader_again", {"leader": -1}, "whoever could be elected"),
        ("leader_again", {"known_epoch": {0: 0}}, "whoever could be elected"),
        ("writes_again", ALONE, "1 of 2 replicas are in sync"),
        ("writes_again", {"role": {1: TRUNCATING}}, "r1 of them does not fetch"),
        ("writes_again", {"known_isr": {0: 0b01}}, "does not know the ISR"),
        ("isr_whole_again", DOWN, "r1 is down with LEO 2"),
        ("isr_whole_again", ALONE, "r1 runs with LEO 2"),
        ("logs_agree_again", PARTED, "At offset 1 leader r0 has m2 and r1 has m1"),
        ("logs_agree_again", {"leo": {1: 1}, "log": {(1, 1): 0}}, "r1 ends at 1"),
        ("logs_agree_again", DOWN, "not everybody runs"),
        ("acknowledged_readable_again", BEHIND, "it is in the log of r0 and r1"),
        ("producers_answered", {"unanswered": {0: 0b10}}, "m2 is neither"),
        ("high_watermark_catches_up", BEHIND, "HW 1 and LEO 2; its ISR is r0, r1."),
        ("high_watermark_catches_up", {**BEHIND, **ALONE}, "fewer than min.insync.replicas=2"),
        ("divergence_ends", PARTED, "has m2 and r1, which follows it, has m1"),
        ("divergence_ends", {"leo": {0: 1}, "log": {(0, 1): 0}}, "r1 ends at 2"),
        ("truncation_ends", {"role": {1: TRUNCATING}}, "r1 with LEO 2 asks r0"),
        ("decisions_learned", {"known_epoch": {1: 0}}, "r1 goes by epoch 0"),
        ("decisions_learned", {"epoch": 2, "leader": -1}, "In epoch 2 nobody leads; r0"),
        ("live_broker_rejoins", ALONE, "has seen it at 2"),
    ],
)
def test_what_is_to_come_has_not_come(name: str, fields: dict[str, Any], told: str) -> None:
    claim = CLAIMS[name]
    explained = claim.explain(edited(AGREED, **fields), MODEL.settings)

    assert not is_met(name, fields)
    assert told in explained


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        pytest.param("writes_again", {**ALONE, "isr": 0b11, "known_isr": {0: 0b11}}, id="all in"),
        pytest.param("acknowledged_readable_again", {**BEHIND, "acked": 0b01}, id="below the HW"),
        pytest.param("high_watermark_catches_up", {**BEHIND, "leader": -1}, id="no leader"),
        pytest.param("divergence_ends", {**PARTED, **DOWN}, id="of those that run"),
        pytest.param("divergence_ends", {"leo": {1: 1}, "log": {(1, 1): 0}}, id="only behind"),
        pytest.param("truncation_ends", {"role": {1: TRUNCATING}, "stopping": 0b10}, id="stopping"),
        pytest.param("decisions_learned", DOWN, id="of those that run, what they know"),
        pytest.param("live_broker_rejoins", {**ALONE, **DOWN}, id="down"),
    ],
)
def test_what_is_no_case_of_it(name: str, fields: dict[str, Any]) -> None:
    assert is_met(name, fields)


def test_what_follows_is_only_claimed_where_there_is_something_to_wait_for() -> None:
    for claim in CLAIMS.values():
        when, other = predicates_of(claim)
        if isinstance(claim, Temporal) and claim.pattern.value == "p ~> q":
            assert when(AGREED, MODEL.settings) != other(AGREED, MODEL.settings)
        if isinstance(claim, Recoverable):
            assert when(AGREED, MODEL.settings)
