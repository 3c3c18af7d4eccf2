"""A session of Spark Connect, or of another server that offers data frames alone.

A stage is `range(shares).mapInArrow(task)`: one row for each share, with its number. Each task has
the items of all shares with its code, and takes its own. It uses no RDD and no context, which
Databricks' standard and serverless computing forbid. Items and results are pickled by Spark's own
serializer, as those of an RDD are: the server is sent code, and its answers are believed.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark.serializers import CPickleSerializer
from pyspark.sql import SparkSession
from pyspark.sql.connect.client.retries import DefaultPolicy
from pyspark.sql.functions import spark_partition_id

from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.shipped_call import SHARE_SCHEMA, over_shares
from waterline.checker.search.engines.shipping import Shipped, Task
from waterline.checker.search.engines.spark_session import NoSpark

_UNAVAILABLE = "UNAVAILABLE"
"""The status of a call that gRPC has brought to no server."""
_ENDED = ("SESSION_NOT_FOUND", "SESSION_CLOSED", "SESSION_CHANGED")
"""Ends of the conditions of a server that has forgotten the session."""
_RETRIES = 4
"""Retries of a call, 5 seconds by the delays of Spark's client. Its 15 take ten minutes."""


class Connect:
    """A session of a server. `choice.settings` are settings of the session, not of the server."""

    is_local = False

    def __init__(self, choice: EngineChoice, describe: Callable[[str], None]) -> None:
        self._choice = choice
        self._describe = describe
        self._session: Any = choice.session
        self._shipped: Shipped | None = None
        self._finished = 0
        self._tagged = threading.local()
        self.cores = 0

    def start(self, log: Path) -> None:
        """Open the session, and send its workers this program. Raises `NoSpark`."""
        try:
            if self._session is None:
                self._session = self._open()
            self._session.registerProgressHandler(self._note_progress)
            self.cores = self._count_cores()
        except Exception as problem:
            said = self.cause(problem).splitlines() or [repr(problem)]
            where = self._choice.master or "the session's address"
            raise NoSpark(f"no session of Spark Connect at {where}: {said[0]}") from None
        self._shipped = Shipped.to(self, describe=self._describe)

    def _open(self) -> Any:
        os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
        builder = SparkSession.builder.remote(str(self._choice.master))
        for name, value in self._choice.settings:
            builder = builder.config(name, value)
        session: Any = builder.create()
        session.client.set_retry_policies([DefaultPolicy(max_retries=_RETRIES)])
        return session

    def _count_cores(self) -> int:
        """A range has a partition for each core, unless it says otherwise."""
        numbers = self._session.range(1 << 16).select(spark_partition_id())
        return int(numbers.distinct().count())

    def add_archive(self, path: Path) -> None:
        """Send an archive to the session's workers, unpacked under the name of its stem."""
        self._session.addArtifacts(f"{path}#{path.stem}", archive=True)

    def tag_jobs(self, group: str) -> None:
        """Tag what this thread runs."""
        if getattr(self._tagged, "group", None) != group:
            self._session.addTag(group)
            self._tagged.group = group

    def cancel(self, group: str) -> None:
        """Interrupt what is tagged, if the server still answers."""
        with suppress(Exception):
            self._session.interruptTag(group)

    def collect(self, items: Sequence[Any], slices: int, task: Task) -> list[Any]:
        """One stage of a data frame."""
        assert self._shipped is not None
        return self.collect_with(self._shipped.ship(task), items, slices)

    def collect_with(self, call: Task, items: Sequence[Any], slices: int) -> list[Any]:
        """The same, of a function that needs nothing of ours."""
        cuts = [len(items) * share // slices for share in range(slices + 1)]
        packing = _packing()
        given = [packing.dumps(list(items[cuts[i] : cuts[i + 1]])) for i in range(slices)]
        shares = self._session.range(0, slices, 1, slices)
        found = shares.mapInArrow(over_shares(call, given), SHARE_SCHEMA).toArrow()
        columns = (column.to_pylist() for column in found.columns)
        results = sorted(zip(*columns, strict=True))
        self._finished = 0
        return [result for _, packed in results for result in packing.loads(packed)]

    def finished_tasks(self, group: str) -> int:
        """How many tasks of the job that runs have ended, as the server has said."""
        return self._finished

    def _note_progress(self, stages: Any, **_: Any) -> None:
        self._finished = sum(stage.num_completed_tasks for stage in stages or ())

    def end(self, problem: Exception) -> str | None:
        """That the server does not answer, or has ended the session."""
        # A task's error has any text in it: only what PySpark itself says counts.
        status = _ask(problem, "getGrpcStatusCode") or _ask(problem, "code")
        condition = _ask(problem, "getCondition") or ""
        if getattr(status, "name", "") == _UNAVAILABLE or str(condition).endswith(_ENDED):
            return f"the server does not answer any more ({condition or _UNAVAILABLE})"
        return None

    def cause(self, problem: Exception) -> str:
        """The text of the error, which has that of the task that failed; of gRPC's, what it met."""
        text = str(problem).strip()
        of_rpc = re.search(r'^\s*details = "(.*)"$', text, re.MULTILINE)
        return of_rpc[1] if of_rpc else text

    def spill_place(self) -> str:
        """Its workers' own."""
        return os.environ.get("SPARK_LOCAL_DIRS", "spark.local.dir of the server")

    def stop(self) -> None:
        """End the session if it is ours."""
        if self._session is not None:
            with suppress(Exception):
                self._session.removeProgressHandler(self._note_progress)
                if self._choice.session is None:
                    self._session.stop()
        self._session = None


def _ask(problem: Exception, name: str) -> Any:
    """Return what a method of an error says, None if it has no such method."""
    method = getattr(problem, name, None)
    return method() if callable(method) else None


def _packing() -> Any:
    return CPickleSerializer()
