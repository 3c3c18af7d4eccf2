"""Every action of the model has its row, and the document shows both tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from waterline.checker.kafka.confirm.kraft.mapping import KRAFT_ROWS
from waterline.checker.kafka.confirm.mapping import TABLE, Row
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.confirm.steering import KRAFT_TABLE, row_of
from waterline.model.message.contents import ACTIONS

DOCUMENT = Path(__file__).parents[3] / "docs" / "confirm.md"


@pytest.mark.parametrize("table", [TABLE, KRAFT_TABLE], ids=["ZooKeeper", "KRaft"])
def test_every_action_of_the_model_is_mapped(table: Mapping[str, Row]) -> None:
    assert list(table) == [action.name for action in ACTIONS]


def test_every_row_says_how_or_why_not() -> None:
    assert all(row.description.endswith(".") for row in (*TABLE.values(), *KRAFT_ROWS.values()))


def test_a_release_has_the_row_of_the_way_it_is_run() -> None:
    assert row_of("AlterPartition", kafka_release("3.9.1")).does is None
    assert row_of("AlterPartition", kafka_release("3.9.1:kraft")).does is not None
    assert row_of("Produce", kafka_release("4.2.0")) is TABLE["Produce"]


@pytest.mark.parametrize(
    ("heading", "rows"),
    [("## Each step on real brokers", TABLE), ("### Under KRaft these differ", KRAFT_ROWS)],
    ids=["ZooKeeper", "KRaft"],
)
def test_what_cannot_be_steered_is_what_is_documented(
    heading: str, rows: Mapping[str, Row]
) -> None:
    text = DOCUMENT.read_text(encoding="utf-8").split(f"\n{heading}\n")[1]
    section = re.split(r"\n##+ ", text)[0]
    shown = re.findall(r"^\| `(\w+)` \| (yes|no) \| (.+) \|$", section, re.MULTILINE)

    assert shown == [
        (name, "no" if row.does is None else "yes", row.description) for name, row in rows.items()
    ]
