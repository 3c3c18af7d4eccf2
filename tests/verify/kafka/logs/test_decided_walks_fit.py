"""The long cases of tests/kafka/logs/test_decided_walks_fit.py."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.kafka.logs.test_decided_walks_fit import BOUNDS, CUTS, FORMS, SEEDS, cut, written
from tests.support.logged_walks import walked
from waterline.checker.kafka.logs.controllers import decisions_of
from waterline.checker.kafka.logs.fitting import Circumstances, search_fits
from waterline.checker.kafka.logs.history import history_of
from waterline.checker.kafka.logs.observation import CONTROLLER
from waterline.checker.kafka.logs.reading import read_logs
from waterline.model.message.model import message_model


@pytest.mark.parametrize("version", ["elr", "truncate-on-fetch"])
def test_a_walk_is_refuted_by_no_verdict_that_knows_its_decisions(
    version: str, tmp_path: Path
) -> None:
    model = message_model(version, BOUNDS)
    given = Circumstances(version=version, hw_in_response=BOUNDS.hw_in_response)
    judged = decided = known_by_brokers = 0
    for number, seed in enumerate(SEEDS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        # Brokers write all lines for every other walk, those of their roles alone for the others.
        walk = walked(model, seed, folder, of_all=number % 2 == 0)
        if walk.lines < 4:
            continue
        form, how = FORMS[number % len(FORMS)], CUTS[number * 3 // 2 % len(CUTS)]
        lines = cut(written(walk.decided, form), how, random.Random(seed))
        (folder / "controller.log").write_text("\n".join(lines) + "\n")
        logs = read_logs([folder])
        observed = logs.of("t-0")
        history = history_of(observed, with_server_log=set(logs.server_logs))
        found = search_fits(history, given, BOUNDS, states_max=4000, seconds_max=4.0)

        what = (seed, form, how)
        assert CONTROLLER not in history.brokers, what
        assert not found.nothing_fits, what
        assert not found.excludes(walk.lost), what
        observed.pop(CONTROLLER, None)
        known_by_brokers += len(decisions_of(observed, history.first_epoch, history.last_epoch))
        decided += len(history.decisions)
        judged += bool(found.fits)

    assert judged >= 5
    assert decided > known_by_brokers
