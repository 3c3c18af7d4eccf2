"""Whoever edits a gate file runs no program by it, unless the command line says that he may."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.gate_texts import SMALL, entry, read
from waterline.checker.ci.document import BadGate
from waterline.checker.ci.spark_settings import HARMLESS

if TYPE_CHECKING:
    from conftest import Commands

pytest_plugins = ["pytester"]
LOG = "spark.driver.extraJavaOptions=-Xlog:gc:file={}"


def on_spark(more: str) -> str:
    return entry(more=SMALL + more).replace('engine = "local"', 'engine = "spark"')


def setting(text: str) -> str:
    return f"driver-levels = 0\nspark-conf = ['spark.executor.cores=1', '{text}']\n"


def test_a_gate_file_has_java_write_no_file(cli: Commands, tmp_path: Path) -> None:
    """Without the refusal this starts Java, which writes it."""
    file = tmp_path / "written-by-java"
    Path("gate.toml").write_text(on_spark(setting(LOG.format(file))))
    code, out, err = cli("gate", "gate.toml", "--jobs", "1", "--no-cache", name="waterline")

    assert (code, out) == (2, "")
    assert "gate.toml:9:" in err
    assert "n: spark-conf sets spark.driver.extraJavaOptions, and Spark's settings" in err
    assert "allow it with --allow-spark" in " ".join(err.split())
    assert not file.exists()


@pytest.mark.parametrize(
    "text",
    [
        "spark.driver.extraJavaOptions=-XX:OnOutOfMemoryError=touch",
        "spark.executor.extraJavaOptions=-javaagent:x.jar",
        "spark.driver.defaultJavaOptions=-Xmx1g",
        "spark.driver.extraClassPath=/tmp",
        "spark.plugins=a.Plugin",
        "spark.extraListeners=a.Listener",
        "spark.jars=x.jar",
        "spark.jars.packages=a:b:1",
        "spark.submit.pyFiles=x.py",
        "spark.pyspark.python=/tmp/python",
        "spark.eventLog.dir=/tmp",
        "spark.local.dir=/tmp",
        "spark.master=spark://elsewhere:7077",
        "spark.remote=sc://elsewhere",
        "spark.driver.host=elsewhere",
        "spark.driver.memory=1g -XX:OnError=touch",
        "spark.driver.memory=1g\\n",
        "spark.executor.memory=\uff11g",
        "spark.speculation=maybe",
        "spark.driver.Memory=1g",
    ],
)
def test_a_setting_that_could_run_something_needs_leave(text: str) -> None:
    gate = on_spark(setting(text)).replace(f"'{text}'", f'"{text}"')
    with pytest.raises(BadGate, match=r"gate\.toml:9:\d+: n: spark-conf sets .*--allow-spark"):
        read(gate)

    [allowed] = read(gate, allow_spark=True)
    assert len(allowed.choice.settings) == 2


@pytest.mark.parametrize("name", HARMLESS)
def test_a_plain_size_number_or_switch_needs_none(name: str) -> None:
    accepted = []
    for value in ("512m", "4", "true"):
        try:
            read(on_spark(setting(f"{name}={value}")))
            accepted.append(value)
        except BadGate as problem:
            assert "--allow-spark" in str(problem)  # noqa: PT017 - which of the three it takes varies

    assert accepted


@pytest.mark.parametrize(
    "master",
    ["spark://elsewhere:7077", "k8s://https://elsewhere", "yarn", "local-cluster[1,1,512]"],
)
def test_a_cluster_needs_leave_and_this_machine_does_not(master: str) -> None:
    for text in (on_spark(f"master = '{master}'\n"), f"[defaults]\nmaster = '{master}'\n{entry()}"):
        with pytest.raises(BadGate, match=r"n: master is .*, a cluster .*--allow-spark"):
            read(text.replace('"local"', '"spark"'))
        read(text.replace('"local"', '"spark"'), allow_spark=True)
    for here in ("local", "local[2]", "local[*]", "local[2,4]"):
        [found] = read(on_spark(f"master = '{here}'\n"))
        assert found.choice.master == here


def test_the_master_of_the_command_line_is_its_users_own() -> None:
    [found] = read(on_spark(""), given={"master": "spark://mine:7077"})

    assert found.choice.master == "spark://mine:7077"


def test_pytest_has_the_same_flag(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider -p no:randomly\n")
    (pytester.path / "gate.toml").write_text(on_spark(setting("spark.plugins=a.Plugin")))
    refused = pytester.runpytest("--collect-only")
    allowed = pytester.runpytest("--collect-only", "--waterline-allow-spark")

    refused.assert_outcomes(errors=1)
    refused.stdout.fnmatch_lines(["*gate.toml:9:*: n: spark-conf sets spark.plugins*"])
    allowed.assert_outcomes(errors=0)
    allowed.stdout.fnmatch_lines(["*1 test collected*"])
