"""Metadata log of a quorum of one: record batches, and how much of it a reader gets.

The log begins with the control batch that names the quorum's leader. What is appended together is
one batch, which a broker takes up as one image.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.checker.kafka.confirm.codec import message_bytes, record_bytes, write_zigzag
from waterline.checker.kafka.confirm.definitions import Definitions
from waterline.checker.kafka.confirm.errors import NotInstalled

try:
    from kafka.record.util import calc_crc32c
except ModuleNotFoundError as missing:
    raise NotInstalled(missing.name) from None

QUORUM_EPOCH = 1
"""The one epoch of the quorum."""
_CONTROL = 0x20
_LEADER_CHANGE_KEY = struct.pack(">hh", 0, 2)
_MAGIC = 2


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """A record by name, in one of its versions."""

    name: str
    version: int
    values: Mapping[str, Any]


Seen = Callable[[MetadataRecord], MetadataRecord]
"""A record as one reader is to see it: brokers find each other behind proxies of their own."""


@dataclass(frozen=True, slots=True)
class _Batch:
    base: int
    records: tuple[MetadataRecord, ...]

    @property
    def end(self) -> int:
        return self.base + (len(self.records) or 1)  # The leader's own batch has no such record.


class MetadataLog:
    """The log; its first offset is 0. Who shares it among threads locks it."""

    def __init__(self, definitions: Definitions, leader: int) -> None:
        self._definitions = definitions
        self._leader = leader
        self._batches = [_Batch(0, ())]

    @property
    def end(self) -> int:
        """The offset of the next record."""
        return self._batches[-1].end

    def append(self, records: Sequence[MetadataRecord]) -> int:
        """Write these as one batch; the log's end after them."""
        if not records:
            raise ValueError("a batch of the metadata log has at least one record")
        self._batches.append(_Batch(self.end, tuple(records)))
        return self.end

    def between(self, start: int, end: int, seen: Seen = lambda record: record) -> bytes:
        """The whole batches from `start` on that end at `end` or before, as one reader has them."""
        chosen = [each for each in self._batches if start < each.end <= end]
        return b"".join(self._bytes(each, seen) for each in chosen)

    def _bytes(self, batch: _Batch, seen: Seen) -> bytes:
        if not batch.records:
            voters = [{"voter_id": self._leader}]
            values = {"leader_id": self._leader, "voters": voters, "granting_voters": voters}
            message = self._definitions.by_name["LeaderChangeMessage"]
            value = message_bytes(message, 0, values)
            return batch_bytes(batch.base, [(_LEADER_CHANGE_KEY, value)], attributes=_CONTROL)
        shown = [seen(record) for record in batch.records]
        return batch_bytes(
            batch.base,
            [(None, record_bytes(self._definitions, e.name, e.version, e.values)) for e in shown],
        )


def batch_bytes(
    base: int, records: Sequence[tuple[bytes | None, bytes]], *, attributes: int = 0
) -> bytes:
    """A record batch of keys and values, in the format of 0.11 and later."""
    now = int(time.time() * 1000)
    body = bytearray()
    for delta, (key, value) in enumerate(records):
        one = bytearray(1)
        write_zigzag(one, 0)  # Its time is the batch's.
        write_zigzag(one, delta)
        write_zigzag(one, -1 if key is None else len(key))
        one += key or b""
        write_zigzag(one, len(value))
        one += value
        write_zigzag(one, 0)  # It has no headers.
        write_zigzag(body, len(one))
        body += one
    last = len(records) - 1
    head = struct.pack(">hiqqqhii", attributes, last, now, now, -1, -1, -1, len(records))
    checked = head + bytes(body)
    rest = struct.pack(">ibI", QUORUM_EPOCH, _MAGIC, calc_crc32c(checked)) + checked
    return struct.pack(">qi", base, len(rest)) + rest
