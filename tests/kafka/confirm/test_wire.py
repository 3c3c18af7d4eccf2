"""What the harness sends has the bytes that Kafka's protocol guide lays out."""

from __future__ import annotations

from typing import Any

import pytest

from waterline.checker.kafka.confirm.wire import (
    LEADER_AND_ISR,
    STOP_REPLICA,
    UPDATE_METADATA,
    client_definitions,
    error_name,
    reader_of,
    request_bytes,
)

OFFICE = {"controller_id": 99, "controller_epoch": 1}
STATE = {
    "topic_name": "t",
    "partition_index": 0,
    "controller_epoch": 1,
    "leader": 1,
    "leader_epoch": 3,
    "isr": [1],
    "partition_epoch": 4,
    "replicas": [0, 1],
}
STATE_BYTES = "0001 74 00000000 00000001 00000001 00000003 00000001 00000001 00000004 00000002"
STATE_BYTES += "00000000 00000001"


@pytest.mark.parametrize(
    ("key", "version", "values", "body"),
    [
        (
            LEADER_AND_ISR,
            0,
            {
                "ungrouped_partition_states": [STATE],
                "live_leaders": [{"broker_id": 1, "host_name": "h", "port": 9}],
            },
            f"00000001 {STATE_BYTES} 00000001 00000001 0001 68 00000009",
        ),
        (
            STOP_REPLICA,
            0,
            {"delete_partitions": True, "ungrouped_partitions": [STATE]},
            "01 00000001 0001 74 00000000",
        ),
        (
            UPDATE_METADATA,
            2,
            {
                "ungrouped_partition_states": [STATE],
                "live_brokers": [{"id": 1, "endpoints": [{"host": "h", "port": 9}]}],
            },
            f"00000001 {STATE_BYTES} 00000001 00000001 00000001 00000009 0001 68 0000 ffff",
        ),
    ],
)
def test_a_controller_says_to_brokers_with_zookeeper(
    key: int, version: int, values: dict[str, Any], body: str
) -> None:
    frame = request_bytes(key, version, OFFICE | values)
    header = 8 + 2 + len("waterline")

    assert frame[:4] == key.to_bytes(2, "big") + version.to_bytes(2, "big")
    assert frame[header:] == bytes.fromhex(f"00000063 00000001 {body}")


def test_a_broker_with_zookeeper_answers() -> None:
    frame = bytes.fromhex("00000001 0000 00000001 0001 74 00000000 000b")
    answer = reader_of(client_definitions()).answer(LEADER_AND_ISR, 0, frame)

    assert (answer.error_code, [each.error_code for each in answer.partition_errors]) == (0, [11])


def test_an_error_has_the_name_that_kafka_gives_it() -> None:
    named = {code: error_name(code) for code in (-1, 6, 10, 74, 999)}

    assert named == {
        -1: "unknown_server_error",
        6: "not_leader_or_follower",
        10: "message_too_large",
        74: "fenced_leader_epoch",
        999: "error 999",
    }
