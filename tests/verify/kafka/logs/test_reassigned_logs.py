"""What a whole answer says of a reassignment."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

from tests.support.commands import Commands

ROOT = Path(__file__).parents[4]


def test_the_json_of_a_reassignment_is_what_its_schema_says(cli: Commands) -> None:
    """With the replicas of each decision, and the lines that no step has to write."""
    logs = str(ROOT / "tests" / "cases" / "reassignment-cancelled" / "logs")
    _, out, _ = cli(
        "explain-logs", logs, "--max-states", "4000", "--format", "json", name="waterline"
    )
    answer = json.loads(out)
    schema = json.loads((ROOT / "docs" / "schemas" / "incident.schema.json").read_text())
    jsonschema.validate(answer, schema)

    decided = [step["decision"] for step in answer["timeline"] if step["decision"]]
    assert [(each["replicas"], each["adding"]) for each in decided][:1] == [([0, 1, 2, 3], [2, 3])]
    assert answer["catalogue"]["entry"] == "C55"
    assert [each["broker"] for each in answer["noted"]].count(None) >= 3
    assert len(answer["reassigned"]) == 3
