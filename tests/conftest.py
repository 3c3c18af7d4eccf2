"""What every test shares: models that Spark's workers can import, and one Spark context."""

from __future__ import annotations

import functools
import gc
import os
import subprocess
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.support.class_archive import use_class_archive
from tests.support.commands import Commands
from tests.support.machine_speed import Slowness
from waterline.checker.compiler import machine, program

ROOT = Path(__file__).parents[1]
VERIFY = ROOT / "tests" / "verify"
STYLE = ROOT / "tests" / "style"
# Processes of a session share what is compiled, and the next session finds it again.
os.environ.setdefault("WATERLINE_CACHE", str(ROOT / ".pytest_cache" / "waterline"))

hypothesis.settings.register_profile(
    "waterline",
    deadline=None,
    # How long data takes to be drawn is the machine's load, not the strategy's.
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("waterline")


class ByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """A file's tests go to one process: they share fixtures. Those on Spark share a context.

    Mutants of examples share nothing, and take minutes together.
    """

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.split("::", 1)[0]
        if path.endswith("verify/mutants/test_examples.py"):
            return nodeid
        return "spark" if "/spark/" in path else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    """Distribute tests by file, where they run side by side (pytest -n)."""
    return ByFile(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--require`."""
    parser.addoption(
        "--require",
        default="",
        metavar="MARKS",
        help="Marks, as spark,brokers,tlc, of tests that fail where they would be skipped.",
    )


def pytest_collection_finish() -> None:
    """Take what was imported and collected out of every later collection of garbage."""
    gc.freeze()


CASE_SECONDS_MAX = 2.0
"""Processor seconds of a case outside of `VERIFY`, its fixtures and its child processes counted.

Compilation in this process is not counted: the first case of a session that needs a kernel compiles
it for all others.
"""
CONTENTION = 3.0
"""Factor on that for processes side by side: they share caches, and threads of one core."""
_BEGUN = pytest.StashKey[float]()
_COMPILATIONS: list[float] = []
"""Processor seconds of each compilation so far."""


def _measure(module: ModuleType, name: str) -> None:
    """Note in `_COMPILATIONS` what each call of a function takes."""
    function = getattr(module, name)

    @functools.wraps(function)
    def measured(*arguments: Any, **options: Any) -> Any:
        began = time.thread_time()
        try:
            return function(*arguments, **options)
        finally:
            _COMPILATIONS.append(time.thread_time() - began)

    setattr(module, name, measured)


_measure(program, "program")
_measure(program, "own_program")
_measure(machine, "object_code")
_measure(machine, "quick_code")


def _processor_seconds() -> float:
    """Processor time of this process and of its children that have ended, without compilation."""
    times = os.times()
    spent = times.user + times.system + times.children_user + times.children_system
    return spent - sum(_COMPILATIONS)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin to count a case's processor time, before its fixtures."""
    item.stash[_BEGUN] = _processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a case that exceeds its budget, in CI, or that is skipped and required."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        required = set(item.config.getoption("--require").split(","))
        for mark in sorted(required & {mark.name for mark in item.iter_markers()}):
            report.outcome = "failed"
            report.longrepr = f"--require {mark}, and it is skipped: {call.excinfo}"
    if report.when == "call" and report.passed and _has_budget(item.path):
        spent = _processor_seconds() - item.stash[_BEGUN]
        limit = CONTENTION * CASE_SECONDS_MAX
        if spent > limit and spent > limit * Slowness().until_now():
            report.outcome = "failed"
            report.longrepr = (
                f"{spent:.1f} s of processor time; a case has {CASE_SECONDS_MAX:.0f} s here. Give "
                "it less to do, or move it to tests/verify."
            )
    return report


def _has_budget(path: Path) -> bool:
    """True in CI for the tests that `make test` runs."""
    return "CI" in os.environ and not any(map(path.is_relative_to, (VERIFY, STYLE)))


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
