"""Three sets of a leader against the broker epochs themselves, along many walks."""

from __future__ import annotations

import pytest

from tests.model.test_broker_epochs import VERSIONS, assert_sets_say_what_the_numbers_say


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("replicas", [2, 3])
def test_the_sets_say_what_the_numbers_say(version: str, replicas: int) -> None:
    assert_sets_say_what_the_numbers_say(version, replicas, walks=150)
