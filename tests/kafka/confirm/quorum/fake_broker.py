"""A fake broker: what a broker asks its controller, by the codec over loopback."""

from __future__ import annotations

import socket
import threading
import uuid
from typing import Any

from kafka.record.memory_records import MemoryRecords

from tests.kafka.confirm.quorum.few_definitions import few_definitions
from waterline.checker.kafka.confirm.codec import (
    read_record,
    read_response_frame,
    request_frame,
)
from waterline.checker.kafka.confirm.quorum.controller import ScriptedController
from waterline.checker.kafka.confirm.wire import HOST, receive_frame, send_frame

DEFINITIONS = few_definitions()
FETCH, API_VERSIONS, DESCRIBE_QUORUM, ALTER_PARTITION, REGISTER, HEARTBEAT = 1, 18, 55, 56, 62, 63
ASSIGN_DIRECTORIES = 73
SECONDS = 10.0


class FakeBroker:
    """What a broker asks its controller."""

    def __init__(
        self, controller: ScriptedController, number: int, *, port: int | None = None
    ) -> None:
        self.number = number
        self.incarnation = uuid.uuid4()
        self.directory = uuid.uuid4()
        self.epoch = -1
        self._port = controller.ports[number] if port is None else port

    def ask(self, key: int, values: dict[str, Any]) -> Any:
        """The answer; None where the connection breaks."""
        with socket.create_connection((HOST, self._port), SECONDS) as connection:
            connection.settimeout(SECONDS)
            send_frame(connection, request_frame(DEFINITIONS, key, 1, 7, values))
            frame = receive_frame(connection)
        return None if frame is None else read_response_frame(DEFINITIONS, key, 1, frame)

    def register(self, *, metadata_version: int = 29, previous: int = -1) -> int:
        feature = {
            "name": "metadata.version",
            "min_supported_version": 7,
            "max_supported_version": metadata_version,
        }
        values = {
            "broker_id": self.number,
            "incarnation_id": self.incarnation,
            "listeners": [{"name": "PLAINTEXT", "host": HOST, "port": 9000 + self.number}],
            "features": [feature],
            "rack": None,
            "log_dirs": [self.directory],
            "previous_broker_epoch": previous,
        }
        self.epoch = self.ask(REGISTER, values).broker_epoch
        return self.epoch

    def beat(self, applied: int, **wants: bool) -> Any:
        values = {"broker_epoch": self.epoch, "current_metadata_offset": applied, **wants}
        return self.ask(HEARTBEAT, values)

    def fetch(self, offset: int, *, epoch: int = 1, wait_ms: int = 0) -> Any:
        asked = {"fetch_offset": offset, "current_leader_epoch": epoch}
        values = {"max_wait_ms": wait_ms, "topics": [{"partitions": [asked]}]}
        return self.ask(FETCH, values).responses[0].partitions[0]

    def records(self, offset: int) -> list[tuple[str, Any]]:
        """Name and values of each record that it may know."""
        return records_of(self.fetch(offset))

    def alter(self, controller: ScriptedController, isr: list[int], answers: list[Any]) -> Any:
        """Ask for an ISR in the background; the request as the script has it."""
        now = controller.partition
        members = [{"broker_id": r, "broker_epoch": controller.broker(r).epoch} for r in isr]
        partition = {
            "new_isr_with_epochs": members,
            "leader_epoch": now.leader_epoch,
            "partition_epoch": now.epoch,
        }
        values = {"broker_id": self.number, "topics": [{"partitions": [partition]}]}

        def ask() -> None:
            answers.append(self.ask(ALTER_PARTITION, values))

        threading.Thread(target=ask, daemon=True).start()
        assert controller.await_true(lambda: bool(controller.asked_by(self.number)), SECONDS)
        return controller.asked_by(self.number)[0]


def records_of(answer: Any) -> list[tuple[str, Any]]:
    """Name and values of each record in the answer to a fetch."""
    found = []
    for batch in MemoryRecords(answer.records):
        for each in batch:
            if not batch.is_control_batch:
                name, _, values = read_record(DEFINITIONS, bytes(each.value))
                found.append((name, values))
    return found
