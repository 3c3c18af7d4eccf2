"""The long cases of tests/kafka/logs/test_explain_logs.py."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.kafka.logs.test_explain_logs import RECORDED, assert_json_follows_its_schema, given
from waterline.checker.kafka.logs.answer import answer_of
from waterline.checker.kafka.logs.reading import read_logs


def test_a_line_that_cannot_be_is_found(tmp_path: Path) -> None:
    """The lost record is put back into the line of the next leader: nothing fits any more."""
    shutil.copytree(RECORDED / "3.9.1-c21", tmp_path / "logs")
    file = tmp_path / "logs" / "broker-1" / "server.log"
    text = file.read_text()
    changed = text.replace("leader epoch 3 from offset 0", "leader epoch 3 from offset 1")
    assert changed != text
    file.write_text(changed)

    found = answer_of(read_logs([tmp_path]), "t-0", given("3.9.1:zookeeper"), seconds_max=6.0)

    assert not found.fits
    [(refused, _), *_] = found.best.refusals.most_common()
    line = found.best.history.sources[refused.replica][refused.line]
    assert line.epoch == 3


@pytest.mark.parametrize(
    ("name", "release"), [("3.9.1-control", "3.9.1:zookeeper"), ("4.2.0-control", "4.2.0:elr")]
)
def test_a_leader_that_heard_of_the_epoch_is_no_c21(name: str, release: str) -> None:
    """The same elections; no acknowledged record is lost, and nothing that fits is C21."""
    found = answer_of(read_logs([RECORDED / name]), "t-0", given(release), seconds_max=30.0)

    assert found.fits
    assert not found.causes
    assert not found.evidence.missed
    assert not found.at_risk
    assert True not in found.best.fits


def test_the_json_is_what_its_schema_says_where_nothing_is_lost() -> None:
    assert_json_follows_its_schema("3.9.1-control", 0)
