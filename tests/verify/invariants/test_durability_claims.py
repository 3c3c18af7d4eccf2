"""Who is electable of three replicas."""

from __future__ import annotations

import pytest

from tests.invariants.test_durability_claims import compared


@pytest.mark.parametrize("version", ["kraft", "elr-with-last-known-leader"])
def test_who_is_electable_of_three_is_who_can_come_to_lead(version: str) -> None:
    assert compared(version, replicas=3, min_insync_replicas=2) > 100
