"""A loss, and a short walk, on unchanged KRaft brokers of Kafka 4.2.0, with and without ELR.

And a loss on brokers of 4.4.0 with their own controller. Nothing of them is left.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.verify.kafka.confirm.real_brokers import (
    REASSIGNMENT,
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


def test_walks_with_eligible_leader_replicas_agree_with_the_model(tmp_path: Path) -> None:
    walks = ("conform", "--circumstances", "shutdowns", "--walks", "2", "--steps", "12")
    process = started(tmp_path, *walks, "--no-aim", kafka="4.2.0:elr")
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
    # The row of the request itself may still show the replicas from before it.
    assert re.search(r" 0 1 2 +0 +0 +1 2 +1 and 2 copy p1, throttled$", out, re.MULTILINE)
    assert re.search(
        r"^CONFIRMED on Kafka 4\.4\.0, with ELR in \d+ s: 1\d of 17 acknowledged records lost",
        out,
        re.MULTILINE,
    )
    assert left_of(tmp_path) == []


@pytest.mark.parametrize(
    ("module", "arguments"), [(WATERLINE, ()), (REASSIGNMENT, ("--run", "overridden"))]
)
def test_an_interrupt_ends_the_brokers_and_their_controller(
    tmp_path: Path, module: str, arguments: tuple[str, ...]
) -> None:
    process = started(tmp_path, *arguments, kafka="4.2.0", module=module)
    assert process.stderr is not None
    for line in process.stderr:
        if "brokers" in line:
            break
    out, err, stood = interrupted(process, signal.SIGINT)

    assert process.returncode == 20, f"{stood}\n{err}"
    assert "on Kafka 4.2.0, with ELR in" not in out
    assert left_of(tmp_path) == []
