"""What every test shares: models that Spark's workers can import, and one Spark context."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.support.class_archive import use_class_archive
from tests.support.commands import Commands

ROOT = Path(__file__).parents[1]
hypothesis.settings.register_profile(
    "waterline",
    deadline=None,
    # How long data takes to be drawn is the machine's load, not the strategy's.
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("waterline")
SPARK = "tests/spark/"
"""Where all tests use one Spark context."""
LONGEST = (
    "faults/test_cluster_faults.py",
    "faults/test_spark_faults.py",
    "kafka/confirm/test_real_kraft_brokers.py",
    "kafka/confirm/test_real_brokers.py",
    "test_types.py",
    "faults/test_programs.py",
    "golden/test_scenarios.py",
    "faults/test_local_faults.py",
    "model/test_compiled_equals_interpreted.py",
    "model/test_order_abstraction.py",
    "kafka/logs/test_chains_fit.py",
    "kafka/confirm/test_real_fluss.py",
    "report/viewer/test_keys.py",
    "model/test_reductions.py",
    "cli/test_states.py",
    "analysis/certificate/test_attacks.py",
    "user_models/test_document.py",
    "user_models/test_stale_answers.py",
    "tla/test_tlc.py",
    "user_models/test_plain_equals_checked.py",
    "user_models/test_containers.py",
    "test_imports.py",
    "test_readme.py",
    "search/test_wide_states.py",
    "cli/test_command_line.py",
)
"""Files that take longest, longest first. Where tests run side by side they begin before all others
but those of `SPARK`, so that in the end no process waits for one of them."""


class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """A file's tests go to one process: they share fixtures. Those of `SPARK` share a context."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.split("::", 1)[0]
        return SPARK if SPARK in path else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    """What decides which process runs what, where tests run side by side (pytest -n)."""
    config.option.loadscopereorder = False  # What comes first is what takes longest: see below.
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`SPARK` first: it is the longest row that one process has to run. Then `LONGEST`."""
    for name in LONGEST:
        assert (Path(__file__).parent / name).is_file(), f"{name} is in LONGEST and is no file"
    items.sort(key=lambda item: _turn(item.nodeid.split("::", 1)[0]))


def _turn(path: str) -> int:
    """When the tests of a file begin."""
    if SPARK in path:
        return -1
    return next((i for i, long in enumerate(LONGEST) if path.endswith(long)), len(LONGEST))


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Commands:
    """Commands on 80 columns, in a folder of their own."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return Commands(capsys, monkeypatch)


@pytest.fixture(scope="session")
def class_archive(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Spark's processes, from here on, start in half the time."""
    base = tmp_path_factory.getbasetemp()
    # Where tests run side by side each process has a folder in one that belongs to the session.
    use_class_archive(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


@pytest.fixture(scope="session")
def spark_context(class_archive: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One local context for all tests; its workers can import `tests.support`."""
    from waterline.checker.search.engines.spark_session import start_context  # noqa: PLC0415 - only where Spark is tested

    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    context = start_context("local[2]", log=tmp_path_factory.mktemp("spark") / "spark.log")
    yield context
    context.stop()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 600 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", disk], check=True)
