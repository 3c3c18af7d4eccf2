"""Python's workers on this machine: they listen at no port."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import psutil
import pytest

from waterline.checker.search.engines.spark_session import _sockets_of_workers

pytestmark = pytest.mark.spark


def test_workers_talk_to_spark_by_sockets_in_a_folder_that_nobody_else_can_enter(
    spark_context: Any,
) -> None:
    assert spark_context.parallelize(range(4), 2).map(abs).sum() == 6
    children = psutil.Process().children(recursive=True)
    workers = [child for child in children if "pyspark.daemon" in _command(child)]
    folder = Path(spark_context._conf.get("spark.python.unix.domain.socket.dir"))
    found = folder.stat()

    assert workers
    assert [worker.net_connections("tcp") for worker in workers] == [[]] * len(workers)
    assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (os.geteuid(), 0o700)


def _command(process: psutil.Process) -> list[str]:
    """None of a process that has ended: other tests have started some."""
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_where_their_names_would_be_too_long_workers_use_ports() -> None:
    assert _sockets_of_workers(Path("/tmp/waterline-abcdefgh"))
    assert not _sockets_of_workers(Path("/var/folders/zz") / ("a" * 40) / "T/waterline-abcdefgh")
