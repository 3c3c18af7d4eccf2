"""Answers to fetches whose records a leader reads from its log late.

A leader answers with a piece of its segment and reads it when the socket takes it
(FileRecords.writeTo). So the proxy makes the answer longer than the buffers of both ends, and does
not read it. The padding comes before the records: the proxy also asks for partitions that no broker
hosts, and the leader answers each with an error. The follower does not see any of this.
"""

from __future__ import annotations

import struct
import uuid

from waterline.checker.kafka.confirm.codec import (
    message_bytes,
    read_message,
    read_response_frame,
    response_frame,
)
from waterline.checker.kafka.confirm.definitions import Definitions
from waterline.checker.kafka.confirm.wire import FETCH

PARTITIONS = 1000
"""An error is 37 bytes at least; the buffers hold 16 kB (`SEND_BYTES`, `RECEIVE_BYTES`)."""
TOPIC, TOPIC_ID = "hosted-by-nobody", uuid.UUID(int=99)


class LongAnswer:
    """Change of a follower's fetch for its leader, and of the answer for the follower."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def asked(self, frame: bytes) -> bytes:
        """The fetch, after the other partitions."""
        _, version = struct.unpack_from(">hh", frame)
        message = self._definitions.requests[FETCH]
        kind = self._definitions.by_name["RequestHeader"]
        _, at = read_message(kind, 2 if version in message.flexible else 1, frame)
        body, _ = read_message(message, version, frame, at)
        others = {
            "topic": TOPIC,
            "topic_id": TOPIC_ID,
            "partitions": [
                {"partition": each, "current_leader_epoch": -1, "partition_max_bytes": 1}
                for each in range(PARTITIONS)
            ],
        }
        return frame[:at] + message_bytes(
            message, version, body | {"topics": [others, *body.topics]}
        )

    def answered(self, version: int, frame: bytes) -> bytes:
        """The answer, without the other partitions."""
        [correlation] = struct.unpack_from(">i", frame)
        body = read_response_frame(self._definitions, FETCH, version, frame)
        own = [
            each
            for each in body.responses
            if TOPIC not in each.values() and TOPIC_ID not in each.values()
        ]
        return response_frame(
            self._definitions, FETCH, version, correlation, body | {"responses": own}
        )
