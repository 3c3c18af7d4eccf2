"""A loss on unchanged KRaft brokers of Kafka 4.2.0, with and without ELR; nothing is left."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.verify.kafka.confirm.real_brokers import (
    SECONDS_MAX,
    WATERLINE,
    interrupted,
    left_of,
    started,
)
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import require_brokers

pytestmark = pytest.mark.brokers


@pytest.fixture(scope="module", autouse=True)
def brokers_can_be_had() -> None:
    try:
        require_brokers("4.2.0", "4.4.0")
    except CannotConfirm as reason:
        pytest.skip(str(reason))


def test_an_acknowledged_record_is_lost_with_a_missed_epoch(tmp_path: Path) -> None:
    process = started(tmp_path, "confirm", "--scenario", "stale-remote-leo", kafka="4.2.0:kraft")
    out, err = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 0, out + err
    # r0 removes it once it has fetched from the new leader, which a slow machine may not wait for.
    assert re.search("m1 was acknowledged, and is in (no broker's log|the log of r0 alone)", out)
    assert re.search(
        r"^CONFIRMED on Kafka 4\.2\.0, without ELR in \d+ s: acknowledged_durable",
        out,
        re.MULTILINE,
    )
    assert left_of(tmp_path) == []


def test_a_replica_that_was_removed_is_elected_from_the_elr_with_an_empty_log(
    tmp_path: Path,
) -> None:
    name = "replication-factor-down-and-up"
    process = started(tmp_path, "confirm", "--scenario", name, kafka="4.4.0")
    out, err = process.communicate(timeout=SECONDS_MAX)

    assert process.returncode == 0, out + err
    assert "m1 was acknowledged, and is in the log of r1 alone." in out
    assert re.search(r"^CONFIRMED on Kafka 4\.4\.0, with ELR in \d+ s: ", out, re.MULTILINE)
    assert left_of(tmp_path) == []


def test_an_interrupt_ends_the_brokers_and_their_controller(tmp_path: Path) -> None:
    assert_an_interrupt_ends_them(tmp_path)


def assert_an_interrupt_ends_them(folder: Path, *arguments: str, module: str = WATERLINE) -> None:
    process = started(folder, *arguments, kafka="4.2.0", module=module)
    assert process.stderr is not None
    for line in process.stderr:
        if "brokers" in line:
            break
    out, err, stood = interrupted(process, signal.SIGINT)

    assert process.returncode == 20, f"{stood}\n{err}"
    assert "on Kafka 4.2.0, with ELR in" not in out
    assert left_of(folder) == []
