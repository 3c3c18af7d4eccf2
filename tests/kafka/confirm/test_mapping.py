"""Every action of the model has its row."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from waterline.checker.kafka.confirm.kraft.mapping import KRAFT_ROWS
from waterline.checker.kafka.confirm.mapping import TABLE, Row
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.confirm.stepping import KRAFT_TABLE, row_of
from waterline.model.message.contents import ACTIONS


@pytest.mark.parametrize("table", [TABLE, KRAFT_TABLE], ids=["ZooKeeper", "KRaft"])
def test_every_action_of_the_model_is_mapped(table: Mapping[str, Row]) -> None:
    assert list(table) == [action.name for action in ACTIONS]


def test_every_row_says_how_or_why_not() -> None:
    assert all(row.description.endswith(".") for row in (*TABLE.values(), *KRAFT_ROWS.values()))


def test_a_release_has_the_row_of_the_way_it_is_run() -> None:
    assert row_of("AlterPartition", kafka_release("3.9.1")).does is None
    assert row_of("AlterPartition", kafka_release("3.9.1:kraft")).does is not None
    assert row_of("Produce", kafka_release("4.2.0")) is TABLE["Produce"]
