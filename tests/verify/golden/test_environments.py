"""Whether a leader is possible always, in environments that lose what was written."""

from __future__ import annotations

import pytest

from tests.golden.test_environments import BY_VERSION, assert_a_leader_is_possible


@BY_VERSION
@pytest.mark.parametrize("environment", ["power-loss", "lost-disk"])
def test_only_an_elr_without_the_last_known_leader_can_leave_nobody_to_lead(
    environment: str, version: str, is_possible: bool
) -> None:
    assert_a_leader_is_possible(environment, version, is_possible)
