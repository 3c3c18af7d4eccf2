"""Paths depend on the model alone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize("optimal", [False, True])
def test_paths_are_the_same_under_any_hash_seed(optimal: bool) -> None:
    program = (
        "from tests.support.own import example\n"
        "from waterline.checker.covering.covers import cover_graph\n"
        "from waterline.checker.covering.state_graph import graph_of\n"
        "graph = graph_of(example('fenced_lease', leases=2))\n"
        f"print(cover_graph(graph, 'transitions', longest=20, optimal={optimal}))"
    )

    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }

    assert len(found) == 1
    assert found.pop().startswith("[Path(start=0")
