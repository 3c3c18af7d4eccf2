"""No line has an actor twice, of random steps of every version and of every example."""

from __future__ import annotations

import pytest

from tests.report.test_actor_once import OWN, VERSIONS, require_of_example, require_of_version


@pytest.mark.parametrize(("grain", "version"), VERSIONS)
def test_of_every_version(grain: str, version: str) -> None:
    for seed in range(3):
        require_of_version(grain, version, seed=seed)


@pytest.mark.parametrize("name", OWN)
def test_of_every_example_model(name: str) -> None:
    require_of_example(name)
