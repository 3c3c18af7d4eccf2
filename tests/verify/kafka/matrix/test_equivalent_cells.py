"""Before its action a rule that waits for it changes no step: every rule and every fault."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kafka.matrix.test_equivalent_cells import (
    WAITS,
    assert_a_rule_that_waits_changes_no_step,
)
from waterline.model.message.features import Feature


@pytest.mark.parametrize(("version", "feature", "options"), WAITS)
def test_before_its_action_a_rule_that_waits_for_it_changes_no_step(
    version: str, feature: Feature, options: dict[str, Any]
) -> None:
    assert_a_rule_that_waits_changes_no_step(version, feature, options)
