"""`--memory` is what a run holds at most, also while it leaves memory for files."""

from __future__ import annotations

import json
import sys
import time

import psutil
import pytest

from tests.support.command import finished, started

SPACE = (
    *("--grain", "atomic", "--protocol", "hw", "--replicas", 3, "--epochs", 3),
    *("--invariant", "type_ok", "--engine", "local", "--threads", 2),
)
ASKED = 200


@pytest.mark.skipif(sys.platform != "linux", reason="pages of files are counted on Linux alone")
def test_a_run_that_outgrows_memory_holds_no_more_than_that() -> None:
    run = started(*SPACE, "--memory", f"{ASKED}M", "--max-depth", 17)
    process = psutil.Process(run.pid)
    held = 0
    while run.poll() is None:
        memory = process.memory_info()
        held = max(held, memory.rss - memory.shared)
        time.sleep(0.01)
    code, out, err = finished(run)

    assert code == 20, err
    assert {"local", "disk"} <= set(json.loads(out)["explored_on"])
    assert ASKED / 2 < held / 1e6 <= ASKED
