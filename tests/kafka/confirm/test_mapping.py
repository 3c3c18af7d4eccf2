"""Every action of the model has its row, and the document shows the table."""

from __future__ import annotations

import re
from pathlib import Path

from checker.kafka.confirm.mapping import TABLE
from model.message.contents import ACTIONS

DOCUMENT = Path(__file__).parents[3] / "docs" / "confirm.md"


def test_every_action_of_the_model_is_mapped() -> None:
    assert list(TABLE) == [action.name for action in ACTIONS]


def test_every_row_says_how_or_why_not() -> None:
    assert all(row.description.endswith(".") for row in TABLE.values())


def test_what_cannot_be_steered_is_what_is_documented() -> None:
    text = DOCUMENT.read_text(encoding="utf-8").split("\n## Each step on real brokers")[1]
    section = text.split("\n## ")[0]
    shown = re.findall(r"^\| `(\w+)` \| (yes|no) \| (.+) \|$", section, re.MULTILINE)

    assert shown == [
        (name, "no" if row.does is None else "yes", row.description) for name, row in TABLE.items()
    ]
