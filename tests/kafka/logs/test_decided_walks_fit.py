"""What the model could have written fits also where controllers say what they decided.

The attack on what is made of controllers' lines and of the metadata log: of each walk they are
written whole, with lines missing, without their beginning or their end, in the form of each
release. No verdict may exclude the walk.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.controller_logs import dump_of, kraft_line, zookeeper_line
from tests.support.logged_walks import Decided, walked
from waterline.checker.kafka.logs.observation import CONTROLLER
from waterline.checker.kafka.logs.reading import read_logs
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model

BOUNDS = Environment(replicas=2, records=1, epochs=3, restarts=2, moves=1, restart_detection="any")
SEEDS = (1, 2, 3, 4, 31, 32, 52, 53, 55)
"""As in test_walks_fit.py."""
FORMS = ("3.9.1 with ZooKeeper", "2.8.2 with ZooKeeper", "KRaft", "dump")
CUTS = ("whole", "partial", "without beginning", "without end")


def written(decided: list[Decided], form: str) -> list[str]:
    """The lines of the decisions, in the form of a release."""
    if form == "dump":
        return dump_of(decided)
    if form == "KRaft":
        pairs = zip([None, *decided], decided, strict=False)
        return [kraft_line(before, each) for before, each in pairs]
    return [zookeeper_line(each, is_old=form.startswith("2.8.2")) for each in decided]


def cut(lines: list[str], how: str, chance: random.Random) -> list[str]:
    """What is left of the lines; of a dump its first line, by which it is known, stays."""
    head, body = lines[:1], lines[1:] if lines[0].startswith("Dumping") else lines
    head = head if len(body) < len(lines) else []
    at = chance.randrange(len(body))
    if how == "partial":
        body = [line for line in body if chance.random() < 0.7]
    elif how == "without beginning":
        body = body[at:]
    elif how == "without end":
        body = body[:at]
    return head + body


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("how", CUTS)
def test_what_counts_was_decided(form: str, how: str, tmp_path: Path) -> None:
    """Many walks without a search: every decision that counts is one of the walk, in order."""
    model = message_model("elr", BOUNDS)
    counted = 0
    for seed in range(12):
        folder = tmp_path / str(seed)
        folder.mkdir()
        walk = walked(model, seed, folder, of_all=False)
        lines = cut(written(walk.decided, form), how, random.Random(seed))
        (folder / "controller.log").write_text("\n".join(lines) + "\n")
        seen = read_logs([folder]).of("t-0").get(CONTROLLER, [])

        for each in seen:
            said = Decided(
                each.partition_epoch or 0, each.epoch or 0, each.leader or 0, each.isr or ()
            )
            assert said == walk.decided[said.number], (seed, form, how)
        assert [o.partition_epoch for o in seen] == sorted({o.partition_epoch or 0 for o in seen})
        counted += len(seen)

    # Of a dump nothing is known behind a record that is missing, or before that of the creation.
    assert counted > 0 or form == "dump"
