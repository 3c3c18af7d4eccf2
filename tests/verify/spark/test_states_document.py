"""The states of docs/clusters.md: its commands are run, its queries asked through Spark."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from waterline.checker.cli import commands

pytestmark = pytest.mark.spark

TEXT = (Path(__file__).parents[3] / "docs" / "clusters.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.+?)```\n\n```text\n(.+?)```", TEXT, re.DOTALL)


@pytest.fixture(scope="module")
def spark(spark_context: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A session with the views of the document, in a directory where its commands were run."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - only where Spark is tested

    session = SparkSession(spark_context)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("document"))
        [lines] = re.findall(r"```console\n(.+?)```", TEXT, re.DOTALL)
        for line in lines.splitlines():
            patch.setattr(sys, "argv", shlex.split(line))
            assert commands.run_command(sys.argv[0]) in {0, 12}
        views = re.findall(r'read\.parquet\("(.+?)"\)\.createOrReplaceTempView\("(.+?)"\)', TEXT)
        assert len(views) == 2
        for path, view in views:
            session.read.parquet(str(Path(path).absolute())).createOrReplaceTempView(view)
    return session


def test_every_query_is_shown_with_what_it_prints() -> None:
    assert len(QUERIES) == TEXT.count("```sql") == 1


@pytest.mark.parametrize("number", range(len(QUERIES)))
def test_a_query_prints_what_is_shown(
    number: int, spark: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    query, shown = QUERIES[number]
    capsys.readouterr()
    spark.sql(query).show(truncate=False)

    assert capsys.readouterr().out.strip() == shown.strip()


def test_columns_have_the_types_that_are_described(spark: Any) -> None:
    kinds = dict(spark.table("states").dtypes)

    assert kinds["depth"] == "int"
    assert kinds["state"] == kinds["parent"] == "binary"
    assert kinds["isr"] == "tinyint"
    assert kinds["leo"] == kinds["arguments"] == "array<tinyint>"
    assert kinds["remote_leo"] == "array<array<tinyint>>"
    assert kinds["action"] == kinds["step"] == "string"
