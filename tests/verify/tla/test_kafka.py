"""Kafka's protocol as a module, read and judged by TLC."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.bench.tla_settings import kafka_problem
from tests.support.tla_modules import differences_from_tlc, tlc
from tests.tla.test_kafka import ELR, code
from waterline.checker.kafka.confirm.processes import find_java
from waterline.checker.tla.kafka.module import export


def test_the_text_does_not_depend_on_the_number_of_replicas() -> None:
    two, three = (
        code(export(kafka_problem(f"--protocol epoch --replicas {n} --records {n}")))
        for n in (2, 3)
    )

    assert two == three


@pytest.mark.tlc
def test_modules_parse(tmp_path: Path) -> None:
    jar = tlc()
    files = []
    for options in (ELR, "--protocol hw", "--grain atomic --protocol kip320-first-try"):
        module = export(kafka_problem(options))
        files.append(f"{module.name}.tla")
        (tmp_path / files[-1]).write_text(module.text)

    done = subprocess.run(
        [str(find_java()), "-cp", str(jar), "tla2sany.SANY", *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stdout
    assert "error" not in done.stdout.lower(), done.stdout


@pytest.mark.tlc
def test_tlc_agrees() -> None:
    """Of the one claim that breaks nowhere there, all states, and the depth: one start of TLC."""
    problem = kafka_problem(
        "--protocol elr --records 1 --epochs 1 --restarts 1 --invariant no_committed_loss"
    )

    assert differences_from_tlc(problem, export(problem)) == []
