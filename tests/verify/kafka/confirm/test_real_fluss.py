"""Tablet servers of a released Fluss, steered step by step."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.verify.kafka.confirm.real_brokers import ROOT, SECONDS_MAX, WATERLINE, command_of
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.fluss.replay import steered_release
from waterline.checker.kafka.confirm.fluss.servers import compile_server
from waterline.checker.kafka.confirm.jars import class_path

pytestmark = pytest.mark.brokers
TRACES = ROOT / "examples" / "traces" / "fluss"


def trace(name: str) -> list[str]:
    return [str(TRACES / f"{name}.json")]


def entry(name: str) -> list[str]:
    return ["--scenario", name]


@pytest.fixture(scope="module", autouse=True)
def tablet_servers_can_be_had(tmp_path_factory: pytest.TempPathFactory) -> None:
    try:
        jars = class_path(steered_release("0.9.1"), folder=None, announce=lambda line: None)
        compile_server(tmp_path_factory.mktemp("java") / "classes", jars)
    except CannotConfirm as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize(
    ("what", "code", "says"),
    [
        (entry("C51"), 0, "CONFIRMED on Fluss 0.9.1-incubating: m1 was acknowledged"),
        (entry("C53"), 0, "CONFIRMED on Fluss 0.9.1-incubating: m2 was acknowledged"),
        (trace("4269"), 0, "CONFIRMED on Fluss 0.9.1-incubating: At offset 0 leader r2 has m1"),
        (trace("kip-101-loss-by-moves"), 30, "HELD on Fluss 0.9.1-incubating"),
    ],
    ids=["C51", "C53", "4269", "kip-101-loss-by-moves"],
)
def test_what_happens_to_fluss_happens_to_its_own_classes(
    what: list[str], code: int, says: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [*command_of(WATERLINE), "confirm", "--fluss", "0.9.1", *what],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path), "COLUMNS": "200"},
        timeout=SECONDS_MAX,
        check=False,
    )

    assert done.returncode == code, done.stdout + done.stderr
    assert says in done.stdout
    assert not any(str(tmp_path) in " ".join(p.cmdline()) for p in java_processes())


def java_processes() -> list[psutil.Process]:
    return [p for p in psutil.process_iter(["name"]) if p.info["name"] == "java"]
