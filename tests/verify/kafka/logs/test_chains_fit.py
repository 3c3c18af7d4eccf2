"""What the model could have written fits as a chain of windows; what it could not does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.kafka.logs.test_chains_fit import (
    CARRIED,
    carried_alike,
    chains_of_walks,
    explained,
    walk_of,
)
from waterline.checker.kafka.logs.history import History
from waterline.checker.kafka.logs.observation import Kind


@pytest.mark.parametrize("version", ["elr", "truncate-on-fetch"])
def test_no_chain_excludes_a_walk_of_the_model(version: str, tmp_path: Path) -> None:
    fitted, several = chains_of_walks(version, range(1, 5), tmp_path)

    assert fitted >= 2
    assert several >= 1


def test_a_chain_does_not_fit_what_nothing_fits(tmp_path: Path) -> None:
    """A high watermark above the log end, in one line of a later epoch, of walks that do fit."""
    refuted = 0
    for seed in range(1, 4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        whole = walk_of("elr", seed, folder)
        if whole is None or not explained(whole, "elr", plain=False).fits:
            continue
        for wrong in list(changed(whole))[:2]:
            assert not explained(wrong, "elr", plain=True).fits, seed
            refuted += 1
        if refuted >= 3:
            break
    assert refuted >= 2


def changed(whole: History) -> Iterator[History]:
    """The history with one line changed so that no state of the model has written it."""
    for replica, lines in enumerate(whole.observed):
        for at, seen in enumerate(lines):
            if seen.kind not in (Kind.LEADS, Kind.FOLLOWS) or seen.epoch == 0:
                continue
            assert seen.offset is not None
            wrong = replace(seen, high_watermark=seen.offset + 1)
            new = (*lines[:at], wrong, *lines[at + 1 :])
            observed = (*whole.observed[:replica], new, *whole.observed[replica + 1 :])
            yield replace(whole, observed=observed)


@pytest.mark.parametrize("version", CARRIED)
def test_a_carried_state_takes_the_same_steps(version: str) -> None:
    judged, cut = carried_alike(version, 40)

    assert judged >= 20
    assert cut >= 3
