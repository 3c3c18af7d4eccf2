"""The long cases of tests/kafka/logs/test_explain_logs.py."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.kafka.logs.test_explain_logs import RECORDED, given
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
