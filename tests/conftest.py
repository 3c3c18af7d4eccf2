"""What every test shares: models that Spark's workers can import, and one Spark context."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SUPPORT = Path(__file__).parent / "support"


@pytest.fixture(scope="session")
def spark_context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One local context for all tests; its workers see tests/support."""
    from checker.engines.spark_session import start_context  # noqa: PLC0415 - only where Spark is tested

    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(SUPPORT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    context = start_context("local[2]", log=tmp_path_factory.mktemp("spark") / "spark.log")
    yield context
    context.stop()
