"""The long cases of tests/kafka/logs/test_walks_fit.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.kafka.logs.test_walks_fit import BOUNDS, FAULTS, SEEDS, VERSIONS
from tests.support.logged_walks import walked
from waterline.checker.kafka.logs.fitting import Circumstances, search_fits
from waterline.checker.kafka.logs.history import history_of
from waterline.checker.kafka.logs.reading import read_logs
from waterline.model.message.model import message_model


@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("of_all", [False, True], ids=["roles", "all lines"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_walk_of_the_model_is_refuted_by_no_verdict(
    version: str, of_all: bool, faults: str, tmp_path: Path
) -> None:
    """With all lines, also what is a dead end by the next of them is attacked."""
    bounds = replace(BOUNDS, **FAULTS[faults])
    model = message_model(version, bounds)
    judged = 0
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        walk = walked(model, seed, folder, of_all=of_all)
        if walk.lines < 4:
            continue
        logs = read_logs([folder])
        history = history_of(logs.of("t-0"), with_server_log=set(logs.server_logs))
        given = Circumstances(version=version, hw_in_response=bounds.hw_in_response)
        found = search_fits(history, given, bounds, states_max=4000, seconds_max=4.0)

        assert not found.nothing_fits, seed
        assert not found.excludes(walk.lost), seed
        judged += bool(found.fits)

    assert judged >= 5
