"""What a whole answer says of a reassignment."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from tests.kafka.logs.test_reassigned_logs import BOUNDS, ELR, given
from tests.support.commands import Commands
from tests.support.controller_logs import dump_of
from tests.support.logged_walks import walked
from waterline.checker.kafka.logs.fitting import search_fits
from waterline.checker.kafka.logs.history import history_of
from waterline.checker.kafka.logs.reading import read_logs
from waterline.checker.kafka.logs.reassigned import reassigned_in
from waterline.model.message.model import message_model
from waterline.model.message.releases import release_named

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


@pytest.mark.parametrize(
    ("version", "seeds"), [(ELR, (2, 5, 9)), (release_named("4.4")[0].version, (5, 10, 12))]
)
@pytest.mark.parametrize("has_dump", [True, False], ids=["dump", "brokers alone"])
def test_a_walk_with_reassignments_is_refuted_by_no_verdict(
    version: str, seeds: tuple[int, ...], has_dump: bool, tmp_path: Path
) -> None:
    model = message_model(version, BOUNDS)
    judged = 0
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        walk = walked(model, seed, folder, of_all=True, reassigns=True)
        for file in folder.glob("*.log"):
            file.write_text(f"[BrokerServer id={file.stem}] started\n{file.read_text()}")
        if has_dump:
            (folder / "dump.txt").write_text("\n".join(dump_of(walk.decided)) + "\n")
        logs = read_logs([folder])
        observed = logs.of("t-0")
        reassigned = reassigned_in(observed, None, None)
        if not reassigned:
            assert not has_dump
            continue
        history = history_of(observed, with_server_log=set(logs.server_logs), reassigned=reassigned)
        bounds = replace(BOUNDS, replicas=len(history.brokers), assigned=history.assigned)
        found = search_fits(history, given(version), bounds, states_max=1000, seconds_max=4.0)

        assert not found.nothing_fits, seed
        assert not found.excludes(walk.lost), seed
        judged += bool(found.fits)

    assert judged >= (3 if has_dump else 1)
