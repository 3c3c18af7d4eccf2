"""What the state leaves out follows from what it keeps: every version and setting."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.test_reductions import (
    BITS,
    CACHED,
    DIVERGES,
    LOST,
    NORMAL,
    assert_bits_say_what_the_counters_say,
    assert_followers_cut_where_they_were_told,
    assert_normal_states_stay_normal,
    assert_the_epoch_cache_follows,
    assert_the_epoch_of_a_lost_record_changes_no_verdict,
)


@pytest.mark.parametrize(("version", "options", "seen"), BITS)
def test_a_bit_says_what_comparing_the_counters_says(
    version: str, options: dict[str, Any], seen: set[str]
) -> None:
    assert_bits_say_what_the_counters_say(version, options, seen)


@pytest.mark.parametrize(("version", "options"), NORMAL)
def test_what_is_said_to_leave_a_normal_state_normal_does(
    version: str, options: dict[str, Any]
) -> None:
    assert_normal_states_stay_normal(version, options, most=3000)


@pytest.mark.parametrize(("version", "options", "broken"), LOST)
def test_what_the_epoch_of_a_lost_record_was_changes_no_verdict(
    version: str, options: dict[str, Any], broken: set[str]
) -> None:
    assert_the_epoch_of_a_lost_record_changes_no_verdict(version, options, broken)


@pytest.mark.parametrize(("version", "options"), DIVERGES)
def test_the_offset_of_a_diverging_answer_is_where_the_follower_cuts_when_it_receives_it(
    version: str, options: dict[str, Any]
) -> None:
    assert_followers_cut_where_they_were_told(version, options)


@pytest.mark.parametrize(("version", "options"), CACHED)
def test_the_epoch_cache_follows_from_the_log_and_one_epoch_beside_it(
    version: str, options: dict[str, Any]
) -> None:
    assert_the_epoch_cache_follows(version, options)
