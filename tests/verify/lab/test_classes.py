"""Paths of the model on the classes of released Kafkas."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.classes import jvm
from lab.classes.__main__ import classes_command
from lab.classes.jvm import find_compiler
from tests.lab.conftest import LabCommands
from waterline.checker.cli.shared import exit_codes
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import require_brokers

pytestmark = pytest.mark.brokers


@pytest.fixture(scope="module", autouse=True)
def classes_can_be_had() -> None:
    try:
        require_brokers("3.9.1", "4.4.0")
        find_compiler()
    except CannotConfirm as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("release", ["3.9.1", "4.4.0"])
def test_paths_agree_and_nothing_is_left(
    lab_command: LabCommands, release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jvm, "MEMORY", tmp_path)
    code, out, err = lab_command(classes_command, "--kafka", release, "--paths", "25")

    assert code == exit_codes.HOLDS, out + err
    assert re.search(rf"^\d{{3}} of 10,468 transitions .* Kafka {release}: 25 paths", out)
    assert list(tmp_path.iterdir()) == []


def test_a_rule_that_kafka_does_not_have_is_found_out(lab_command: LabCommands) -> None:
    """A leader takes who has caught up out of the ISR, as until KAFKA-7152."""
    other = "kip320-without-shrink-only-lagging"
    code, out, err = lab_command(
        classes_command, "--kafka", "4.4.0", "--protocol", other, "--paths", "10"
    )

    assert code == exit_codes.OF_CONFIRMING["refuted"], out + err
    assert re.search(r"^  known_isr\[0\] is \[0, 1\]; the model has \[0\]$", out, re.MULTILINE)


def test_a_series_without_source_is_refused(lab_command: LabCommands) -> None:
    code, _, err = lab_command(classes_command, "--kafka", "2.1.1", "--paths", "1")

    assert code == exit_codes.BAD_USAGE
    assert "2.1.1" in err


def test_a_version_that_the_harness_cannot_follow_is_refused(lab_command: LabCommands) -> None:
    code, out, err = lab_command(classes_command, "--kafka", "4.4.0", "--protocol", "elr")

    assert (code, out) == (exit_codes.BAD_USAGE, "")
    assert "--protocol is elr; the harness takes versions that truncate by epochs" in err
