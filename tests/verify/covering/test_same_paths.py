"""Paths depend on the model alone."""

from __future__ import annotations

import os
import subprocess
import sys


def test_paths_are_the_same_under_any_hash_seed() -> None:
    program = (
        "from tests.support.own import example\n"
        "from waterline.checker.covering.paths import cover_graph\n"
        "from waterline.checker.covering.state_graph import graph_of\n"
        "print(cover_graph(graph_of(example('die_hard')), 'transitions', longest=20))"
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
