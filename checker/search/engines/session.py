"""SparkContext that survives the end of its JVM.

Imports PySpark, which takes half a second: only where Spark is used.
"""

from __future__ import annotations

import logging
import threading
import warnings
from typing import Any

from pyspark import SparkConf, SparkContext


class Session(SparkContext):
    """The context that `checker.search.engines.spark_session.start_context` starts."""

    def __init__(self, *, conf: SparkConf, gateway: Any) -> None:
        # What both would print when the process ends is reported in one line by the waiting caller.
        logging.getLogger().addFilter(_is_not_of_py4j)
        super().__init__(conf=conf, gateway=gateway)
        server: Any = self._accumulatorServer
        server.handle_error = lambda request, client_address: None

    def stop(self) -> None:
        """Stop it, also where its process is gone.

        Its server of accumulators takes up to a second to end, and does so in a thread of its own.
        """
        server: Any = getattr(self, "_accumulatorServer", None)
        if server is not None:
            self._accumulatorServer = None  # type: ignore[assignment]
            threading.Thread(target=server.shutdown, daemon=True).start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            try:
                super().stop()
            except OSError:
                # It cannot be reached, and is forgotten by now. The half that is here remains.
                super().stop()


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname


def gateway_in_use() -> Any:
    """Return this process's gateway while the process behind it runs; else None.

    PySpark uses its first one forever. One that has ended is forgotten here.
    """
    gateway: Any = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if process is not None and process.poll() is not None:
        SparkContext._gateway = None
        SparkContext._jvm = None
        return None
    return gateway
