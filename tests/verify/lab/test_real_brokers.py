"""Short walks, and an experiment with Kafka's own controller, on real brokers; nothing is left."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.verify.kafka.confirm.real_brokers import SECONDS_MAX, left_of, started
from tests.verify.kafka.confirm.test_real_kraft_brokers import assert_an_interrupt_ends_them
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import require_brokers

pytestmark = pytest.mark.brokers
CONFORM, REASSIGNMENT = "lab.conform.__main__", "lab.experiments.reassignment"


@pytest.fixture(scope="module", autouse=True)
def brokers_can_be_had() -> None:
    try:
        require_brokers("0.10.2.2", "4.2.0", "4.4.0")
    except CannotConfirm as reason:
        pytest.skip(str(reason))


def test_walks_on_real_brokers_agree_with_the_model(tmp_path: Path) -> None:
    walks = ("--circumstances", "crashes", "--walks", "2", "--steps", "12", "--no-aim")
    process = started(tmp_path, *walks, module=CONFORM)
    out, err = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 0, out + err
    assert "2 walks on Kafka 0.10.2.2, seed 1" in out
    assert re.search(r"^(1[2-9]|2\d) steps compared in \d+ s, 0 disagreements$", out, re.MULTILINE)
    assert left_of(tmp_path) == []


def test_walks_with_eligible_leader_replicas_agree_with_the_model(tmp_path: Path) -> None:
    walks = ("--circumstances", "shutdowns", "--walks", "2", "--steps", "12")
    process = started(tmp_path, *walks, "--no-aim", kafka="4.2.0:elr", module=CONFORM)
    out, err = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 0, out + err
    assert "2 walks on Kafka 4.2.0:elr, seed 1" in out
    assert re.search(r"^(1[2-9]|2\d) steps compared in \d+ s, 0 disagreements$", out, re.MULTILINE)
    assert left_of(tmp_path) == []


def test_a_replication_factor_that_goes_down_and_up_loses_what_was_acknowledged(
    tmp_path: Path,
) -> None:
    run = ("--run", "replication-factor")
    process = started(tmp_path, *run, kafka="4.4.0", module=REASSIGNMENT)
    out, err = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 0, out + err
    # A row may still show the replicas from before its request.
    copied = r" 0( 1 2)? +0 +0 +1 2 +(reassign p1: 0 1 2|1 and 2 copy p1, throttled)$"
    assert re.search(copied, out, re.MULTILINE), out
    assert re.search(
        r"^CONFIRMED on Kafka 4\.4\.0, with ELR in \d+ s: 1\d of 17 acknowledged records lost",
        out,
        re.MULTILINE,
    )
    assert left_of(tmp_path) == []


def test_an_interrupt_of_an_experiment_ends_the_brokers(tmp_path: Path) -> None:
    assert_an_interrupt_ends_them(tmp_path, "--run", "overridden", module=REASSIGNMENT)
