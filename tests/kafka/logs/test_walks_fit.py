"""What the model itself could have written fits: random walks, whose lines alone are searched for.

An attack on all that the search leaves out. Each walk is one of the behaviours, so "nothing fits"
is wrong of it, and so is a verdict about all behaviours that this one refutes. Lines are written
here after Kafka's format, from the states, and read like any other.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.logged_walks import walked
from waterline.checker.kafka.logs.fitting import Circumstances, search_fits
from waterline.checker.kafka.logs.history import history_of
from waterline.checker.kafka.logs.reading import read_logs
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model

BOUNDS = Environment(replicas=2, records=1, epochs=3, restarts=2, moves=1, restart_detection="any")
FAULTS = {"crashes": {}, "power": {"power_losses": 1}, "disks": {"lost_disks": 1}}
VERSIONS = ("elr", "truncate-on-fetch")
SEEDS = (1, 2, 3, 4, 31, 32, 52, 53, 55)
"""Among them walks that nothing fitted while the search left checkpoints out."""


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
        assert not (found.never_loses if walk.lost else found.always_loses), seed
        judged += bool(found.fits)

    assert judged >= 5
