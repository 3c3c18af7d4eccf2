"""What the command is given that it cannot take: one line, exit code 2, nothing started."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.commands import Commands

ROOT = Path(__file__).parents[3]
LOSS = ROOT / "examples" / "traces" / "hw-no_committed_loss-2r2n2e.json"
NAMES_OF_LIBRARIES = ("kafka", "kazoo")
OF_LIBRARIES = ("waterline.checker.kafka.confirm.", "waterline.checker.cli.confirm_run")


def refused(cli: Commands, *arguments: object) -> str:
    code, out, err = cli("confirm", *arguments, name="waterline")
    last = err.splitlines()[-1]

    assert (code, out) == (2, "")
    assert last.startswith("error: ")
    return last


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--kafka", "0.10.2.2"], "give a TRACE or --scenario"),
        ([LOSS, "--scenario", "C1", "--kafka", "0.10.2.2"], "give a TRACE or --scenario"),
        ([LOSS], "--kafka"),
        ([LOSS, "--kafka", "soon"], "must be a release"),
        ([LOSS, "--kafka", "0.8.2.2"], "the oldest that can be steered"),
        ([LOSS, "--kafka", "3.2.3:kraft"], "the oldest steered with KRaft is 3.3.0:kraft"),
        ([LOSS, "--kafka", "4.2.0:zookeeper"], "has no ZooKeeper any more"),
        ([LOSS, "--kafka", "3.9.1:elr"], "has no eligible leader replicas"),
        (["--scenario", "C1", "--kafka", "4.2.0", "--control"], "has no control run"),
        (["--scenario", "C39", "--kafka", "3.9.1"], "has no counterexample there"),
        ([LOSS, "--kafka", "4.9.0"], "the newest that is, is 4.4"),
        ([LOSS, "--kafka", "0.10.2.2", "--control"], "--control is of a scenario"),
        (["--scenario", "C99", "--kafka", "0.10.2.2"], "unknown scenario"),
        (["no-such.json", "--kafka", "0.10.2.2"], "no-such.json"),
        ([LOSS, "--kafka", "0.10.2.2", "--jars", "/no/such"], "/no/such"),
    ],
)
def test_bad_input_is_one_line(cli: Commands, arguments: list[object], complaint: str) -> None:
    assert complaint in refused(cli, *arguments)


def test_a_trace_of_another_model_is_refused(cli: Commands, tmp_path: Path) -> None:
    other = LOSS.read_text().replace("kafka-message", "kafka-atomic")
    (tmp_path / "other.json").write_text(other)

    assert "whose steps are no requests" in refused(
        cli, tmp_path / "other.json", "--kafka", "0.10.2.2"
    )


def test_a_folder_that_is_not_empty_is_kept_as_it_is(cli: Commands, tmp_path: Path) -> None:
    (tmp_path / "kafka_2.11-0.10.2.2.jar").touch()

    last = refused(cli, LOSS, "--kafka", "0.10.2.2", "--jars", tmp_path, "--keep", tmp_path)

    assert "is not empty; name a new folder" in last
    assert [path.name for path in tmp_path.iterdir()] == ["kafka_2.11-0.10.2.2.jar"]


@pytest.mark.parametrize("missing", NAMES_OF_LIBRARIES)
def test_without_the_optional_libraries_it_says_what_to_install(
    missing: str, cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {"waterline.checker.kafka.confirm.errors", "waterline.checker.kafka.confirm.releases"}
    for name in list(sys.modules):
        library = name.split(".")[0] in NAMES_OF_LIBRARIES
        if (library or name.startswith(OF_LIBRARIES)) and name not in kept:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)

    last = refused(cli, LOSS, "--kafka", "0.10.2.2")

    assert f"confirm needs the package {missing}" in last
    assert "pip install 'waterline-checker[kafka]'" in last
