"""Aimed walks under circumstances of a conformance run, on clusters that only pretend."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.conform.test_grounds import CRASHES, NEW, OLD, assert_every_outcome_is_walked_to
from waterline.checker.kafka.confirm.releases import KafkaRelease


@pytest.mark.parametrize("release", [OLD, NEW])
def test_every_outcome_that_can_be_had_is_walked_to(release: KafkaRelease, pretended: Any) -> None:
    assert_every_outcome_is_walked_to(release, pretended, CRASHES, 60)
