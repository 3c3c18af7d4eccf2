"""A cluster that gives no executor: what is said, and that nobody waits for one that has ended."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from waterline.checker.search.engines.java import SparkGone
from waterline.checker.search.engines.spark_session import (
    NoSpark,
    _is_on_loopback,
    wait_for_executors,
)


def _nothing_can_be_asked() -> Any:
    raise RuntimeError("Cannot call methods on a stopped SparkContext.")


def gave_up(*, stopped: bool) -> Any:
    """Spark's own context, after it found no master or while it runs."""
    return SimpleNamespace(isStopped=lambda: stopped, getExecutorMemoryStatus=_nothing_can_be_asked)


class Ended:
    """Spark's process, of which only the exit code is left."""

    def wait(self, seconds: float) -> int:
        """At once."""
        return 137


def context(*, stopped: bool, process: Any = None) -> Any:
    """A context on a cluster."""
    jvm = SimpleNamespace(System=SimpleNamespace(currentTimeMillis=lambda: 0))
    return SimpleNamespace(
        master="spark://127.0.0.1:1",
        _jsc=SimpleNamespace(sc=lambda: gave_up(stopped=stopped)),
        _gateway=SimpleNamespace(proc=process, jvm=jvm),
    )


def test_a_master_that_does_not_answer_is_named() -> None:
    with pytest.raises(NoSpark, match=r"no master answers at --master spark://127\.0\.0\.1:1"):
        wait_for_executors(context(stopped=True))


def test_a_process_that_has_ended_is_told_by_its_exit_code() -> None:
    with pytest.raises(SparkGone, match="gone before it had an executor: it ended with exit code"):
        wait_for_executors(context(stopped=True, process=Ended()))


def test_what_is_neither_is_not_hidden() -> None:
    with pytest.raises(RuntimeError, match="Cannot call methods"):
        wait_for_executors(context(stopped=False))


@pytest.mark.parametrize(
    ("master", "is_on_loopback"),
    [
        ("spark://127.0.0.1:7077", True),
        ("spark://localhost:7077,127.8.0.1:7077", True),
        ("spark://[::1]:7077", True),
        ("spark://127.0.0.1:7077,elsewhere:7077", False),
        ("spark://localhost.example:7077", False),
        ("spark://10.0.0.1:7077", False),
        ("k8s://https://127.0.0.1:6443", False),
        ("yarn", False),
        (None, False),
    ],
)
def test_a_cluster_is_on_this_machine_alone_where_all_its_masters_are_on_loopback(
    master: str | None, is_on_loopback: bool
) -> None:
    assert _is_on_loopback(master) == is_on_loopback
