"""Under symmetry one state of each orbit is left, of examples with three alike names."""

from __future__ import annotations

import pytest

from tests.support.own import example
from tests.user_models.test_examples import KRAFT, RAFT, reachable, searched
from waterline.checker.user_models.vetting import exchange

SORTS = {"raft": "server", "kraft_log": "voter"}


@pytest.mark.parametrize(
    ("name", "bounds", "states"), [("raft", RAFT, 102), ("kraft_log", KRAFT, 171)]
)
def test_symmetry_leaves_one_state_of_each_orbit_of_servers(
    name: str, bounds: dict[str, int], states: int
) -> None:
    """Three names are exchanged in every way by exchanging neighbours: a, b, a, b, a."""
    problem, renaming = example(name, **bounds), example(name, SORTS[name], **bounds)
    (sort,) = renaming.symmetry.sorts
    orbits = set()
    for state in reachable(problem):
        others = [state]
        for one in (0, 1, 0, 1, 0):
            others.append(exchange(others[-1], sort, one))
        orbits.add(min(other.words for other in others))

    assert searched(renaming).distinct == len(orbits) == states
