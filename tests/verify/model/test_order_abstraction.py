"""The order abstraction is exact: every version in all circumstances, and larger spaces."""

from __future__ import annotations

from typing import Any

import pytest

from lab.fuzz.order_abstraction import CASES
from tests.model.test_order_abstraction import (
    INSIDE,
    ONE_RECORD,
    assert_as_the_gate_has_it,
    assert_bounded_states_are_inside,
    assert_steps_lead_to_normal_forms,
    checked,
    violated,
)


@pytest.mark.parametrize(("version", "circumstances"), CASES, ids=str)
def test_the_same_steps_lead_to_the_normal_form_of_where_they_lead(
    version: str, circumstances: dict[str, Any]
) -> None:
    assert_steps_lead_to_normal_forms(version, circumstances)


@pytest.mark.parametrize(("version", "bounds"), INSIDE, ids=str)
def test_every_bounded_state_is_inside_and_no_deeper(version: str, bounds: dict[str, int]) -> None:
    assert_bounded_states_are_inside(version, bounds)


@pytest.mark.parametrize("entry", ONE_RECORD, ids=lambda entry: entry["name"])
def test_one_record_at_a_time(entry: dict[str, Any]) -> None:
    assert_as_the_gate_has_it(entry)


@pytest.mark.parametrize(
    ("version", "records", "cut", "whole"),
    [
        ("kip320", 2, (38_918, 40), (32_526, 38)),
        ("kip320", 3, (297_698, 53), (255_624, 51)),
        ("epoch", 2, (57_258, 42), (47_666, 39)),
        ("elr", 2, (44_942, 46), (37_174, 44)),
    ],
)
def test_records_that_all_have_for_good_make_room(
    version: str, records: int, cut: tuple[int, int], whole: tuple[int, int]
) -> None:
    one = checked(version, records=records, unbounded=True)
    other = checked(version, records=records, unbounded=True, settled=False)

    assert (one.result.distinct, one.result.depth) == cut
    assert (other.result.distinct, other.result.depth) == whole
    assert violated(one) == violated(other)
    assert "base_kept" in {found.name for found in one.result.invariants}


def test_what_breaks_breaks_as_early_as_within_large_bounds() -> None:
    within = checked("hw", records=2, epochs=3, restarts=3)
    done = checked("hw", records=2, unbounded=True)

    assert done.result.distinct == 1_065_276
    assert len(violated(done)) == 11
    assert violated(done) == violated(within)


def test_recycled_records_break_what_logs_of_two_records_break() -> None:
    within = checked("epoch", records=3, epochs=2, moves=2, restarts=0)
    fewer = checked("epoch", records=2, epochs=2, moves=2, restarts=0)
    done = checked("epoch", records=2, moves=1, unbounded=True)

    assert violated(within)["log_matching"] == violated(done)["log_matching"] == 12
    assert violated(within).items() <= violated(done).items()
    assert violated(fewer).get("log_matching") != 12


def test_symmetry_takes_one_state_of_each_orbit() -> None:
    bounds = {"records": 2, "moves": 1, "election_order": "any", "unbounded": True}
    one, other = checked("kip320", **bounds), checked("kip320", "replicas", **bounds)

    # No state of this model is its own mirror image: a leader is one of two replicas.
    assert one.result.distinct == 337_404 == 2 * other.result.distinct
    assert violated(one) == violated(other)


def test_offsets_of_a_counterexample_count_what_was_cut_off() -> None:
    bounds = {"records": 2, "power_losses": 1, "unbounded": True}
    done = checked("kip320", names=("acknowledged_durable",), **bounds)

    [finding] = done.findings
    assert finding.replayed.trace.environment["unbounded"] is False
