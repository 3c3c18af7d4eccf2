"""Kafka's wire protocol over plain sockets, by Kafka's own definitions of its messages.

What the harness sends as a client is defined for all releases at once, and what brokers say to each
other by a release's jars where these define it. A definition takes of plain dictionaries what its
version has, so that one text serves all releases. Record batches are read and made by kafka-python.
"""

from __future__ import annotations

import functools
import importlib.resources
import itertools
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from waterline.checker.kafka.confirm.codec import (
    read_request_frame,
    read_response_frame,
    request_frame,
)
from waterline.checker.kafka.confirm.definitions import (
    NEVER,
    Definitions,
    Field,
    Message,
    Versions,
)
from waterline.checker.kafka.confirm.errors import NoAnswer, NotInstalled

try:
    from kafka.errors import for_code
    from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder
except ModuleNotFoundError as missing:
    raise NotInstalled(missing.name) from None

PRODUCE = 0
FETCH = 1
LIST_OFFSETS = 2
LEADER_AND_ISR = 4
STOP_REPLICA = 5
UPDATE_METADATA = 6
API_VERSIONS = 18
OFFSET_FOR_LEADER_EPOCH = 23
ALTER_REPLICA_LOG_DIRS = 34
ALTER_PARTITION = 56

FRAME_BYTES_MAX = 64 * 1024 * 1024
_FETCH_BYTES_MAX = 1 << 20
ASK_SECONDS = 5.0
HOST = "127.0.0.1"
"""Loopback: other machines see nothing of the harness or its brokers."""

_UNREADABLE = (ValueError, LookupError, struct.error)
_ALL = Versions.read("0+")
_RENAMED = {
    -1: "unknown_server_error",
    0: "none",
    6: "not_leader_or_follower",
    10: "message_too_large",
    17: "invalid_topic_exception",
    39: "invalid_replica_assignment",
}
"""Errors that kafka-python calls by another name than Kafka."""
_correlations = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a log: `epoch` is None in a format that does not carry it (before 0.11)."""

    offset: int
    value: bytes
    epoch: int | None


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it was read: its kind, its version, and what it says."""

    key: int
    version: int
    body: Any


@dataclass(frozen=True, slots=True)
class Reader:
    """Parser of frames: requests, and answers to a request of a kind and version."""

    request: Callable[[bytes], Request]
    answer: Callable[[int, int, bytes], Any]


def reader_of(definitions: Definitions) -> Reader:
    """Return the reader by these definitions. It raises `NoAnswer` for other frames."""

    def request(frame: bytes) -> Request:
        try:
            header, body = read_request_frame(definitions, frame)
        except _UNREADABLE as problem:
            raise NoAnswer(f"a request cannot be read: {problem}") from None
        return Request(header.request_api_key, header.request_api_version, body)

    def answer(key: int, version: int, frame: bytes) -> Any:
        try:
            return read_response_frame(definitions, key, version, frame)
        except _UNREADABLE as problem:
            raise NoAnswer(f"the answer to request {key} cannot be read: {problem}") from None

    return Reader(request, answer)


@functools.cache
def client_definitions() -> Definitions:
    """Return the messages of clients, and of a controller to brokers with ZooKeeper.

    Clients' are kafka-python's copy of Kafka's own: the jars of old releases have no definitions.
    """
    found = Definitions()
    for file in importlib.resources.files("kafka.protocol.schemas.resources").iterdir():
        if file.name.endswith(".json"):
            found.add(file.read_text(encoding="utf-8"))
    for message in _of_controller():
        found.put(message)
    return found


def _of_controller() -> list[Message]:
    """Return what a controller sends, in the one version that the harness speaks."""
    partition = _fields(topic_name="string", partition_index="int32")
    state = (
        *partition,
        *_fields(controller_epoch="int32", leader="int32", leader_epoch="int32", isr="[]int32"),
        *_fields(partition_epoch="int32", replicas="[]int32"),
    )
    leader = _fields(broker_id="int32", host_name="string", port="int32")
    endpoint = _fields(port="int32", host="string", security_protocol="int16")
    [rack] = _fields(rack="string")
    broker = (*_fields(id="int32", endpoints=endpoint), replace(rack, default="null"))
    office = _fields(controller_id="int32", controller_epoch="int32")
    [code] = _fields(error_code="int16")
    errors = (code, *_fields(partition_errors=(*partition, code)))
    requests = {
        LEADER_AND_ISR: _fields(ungrouped_partition_states=state, live_leaders=leader),
        STOP_REPLICA: _fields(delete_partitions="bool", ungrouped_partitions=partition),
        UPDATE_METADATA: _fields(ungrouped_partition_states=state, live_brokers=broker),
    }
    answers = {LEADER_AND_ISR: errors, STOP_REPLICA: errors, UPDATE_METADATA: (code,)}
    return [
        Message(name=f"{kind} {key}", key=key, kind=kind, valid=_ALL, flexible=NEVER, fields=fields)
        for key in requests
        for kind, fields in (("request", (*office, *requests[key])), ("response", answers[key]))
    ]


def _fields(**kinds: str | tuple[Field, ...]) -> tuple[Field, ...]:
    """Return fields that each version has: of a plain type, or arrays of structs."""
    return tuple(
        Field(name=name, kind=kind, versions=_ALL)
        if isinstance(kind, str)
        else Field(name=name, kind=f"[]{name}", versions=_ALL, inner=kind)
        for name, kind in kinds.items()
    )


def request_bytes(key: int, version: int, values: Mapping[str, Any]) -> bytes:
    """A whole request, less the frame's length."""
    return request_frame(client_definitions(), key, version, next(_correlations), values)


def error_name(code: int) -> str:
    """The name of an error code, as `fenced_leader_epoch`; its number where it has no name."""
    name = _RENAMED.get(code) or str(for_code(code).message).lower()
    return f"error {code}" if name == "unknown" else name


def kind_of(frame: bytes) -> tuple[int, int]:
    """The kind of a request and its version."""
    key, version = struct.unpack_from(">hh", frame)
    return key, version


def send_frame(to: socket.socket, frame: bytes) -> None:
    """A frame with its length before it."""
    to.sendall(struct.pack(">i", len(frame)) + frame)


def receive_frame(source: socket.socket) -> bytes | None:
    """The next frame, None at the end of the connection. Raises `OSError`."""
    size = _exactly(source, 4)
    if size is None:
        return None
    length = struct.unpack(">i", size)[0]
    if not 0 <= length <= FRAME_BYTES_MAX:
        raise OSError(f"a frame of {length} bytes")
    return _exactly(source, length)


def _exactly(source: socket.socket, size: int) -> bytes | None:
    got = bytearray()
    while len(got) < size:
        part = source.recv(size - len(got))
        if not part:
            return None
        got += part
    return bytes(got)


def call(port: int, key: int, version: int, values: Mapping[str, Any], *, seconds: float) -> Any:
    """Ask the broker on this port of this machine, and wait. Raises `NoAnswer`."""
    try:
        with socket.create_connection((HOST, port), seconds) as connection:
            connection.settimeout(seconds)
            send_frame(connection, request_bytes(key, version, values))
            frame = receive_frame(connection)
    except OSError as problem:
        raise NoAnswer(f"port {port} did not answer request {key}: {problem}") from None
    if frame is None:
        raise NoAnswer(f"port {port} closed the connection on request {key}")
    return reader_of(client_definitions()).answer(key, version, frame)


def fetch(
    port: int,
    who: int,
    version: int,
    *,
    topic: str,
    offset: int = 0,
    epoch: int = -1,
    index: int = 0,
    log_start: int = -1,
    seconds: float = ASK_SECONDS,
) -> Any:
    """Return a broker's answer to a fetch of a consumer or follower: the part for the partition.

    `epoch` is the leader epoch that it claims, -1 for none. Raises `NoAnswer`.
    """
    partition = {
        "partition": index,
        "fetch_offset": offset,
        "partition_max_bytes": _FETCH_BYTES_MAX,
        "current_leader_epoch": epoch,
        "log_start_offset": log_start,
    }
    values = {
        "replica_id": who,
        "max_wait_ms": 0,
        "max_bytes": _FETCH_BYTES_MAX,
        "session_epoch": -1,
        "topics": [{"topic": topic, "partitions": [partition]}],
    }
    answer = call(port, FETCH, version, values, seconds=seconds)
    return answer.responses[0].partitions[0]


class Pending:
    """A call whose answer is not waited for: `answer` and `problem` are None until it is over."""

    def __init__(
        self, port: int, key: int, version: int, values: Mapping[str, Any], *, seconds: float
    ) -> None:
        self.answer: Any = None
        self.problem: NoAnswer | None = None
        self._done = threading.Event()

        def ask() -> None:
            try:
                self.answer = call(port, key, version, values, seconds=seconds)
            except NoAnswer as problem:
                self.problem = problem
            self._done.set()

        threading.Thread(target=ask, daemon=True).start()

    def is_over(self, seconds: float = 0) -> bool:
        """True if there is an answer, or will be none; waits so long for it."""
        return self._done.wait(seconds)


def records_in(data: bytes | None) -> list[Record]:
    """Every record in a segment or an answer, in order. A torn end is left out."""
    if not data:
        return []
    found = []
    for batch in MemoryRecords(bytes(data)):
        epoch = batch.leader_epoch if batch.magic >= 2 else None
        found += [Record(each.offset, bytes(each.value or b""), epoch) for each in batch]
    return found


def batch_sizes(data: bytes) -> list[int]:
    """The size in bytes of each batch of a segment, in order."""
    sizes = []
    at = 0
    while at + 12 <= len(data):
        size = 12 + struct.unpack_from(">i", data, at + 8)[0]
        if at + size > len(data):
            break
        sizes.append(size)
        at += size
    return sizes


def one_record(value: bytes, *, magic: int, producer: int = -1) -> bytes:
    """A batch of one record of now in the format `magic`: 1 before 0.11, 2 since.

    With the number of an idempotent `producer` it is that producer's first: sent once more it is
    not appended again.
    """
    described = (
        {} if producer < 0 else {"producer_id": producer, "producer_epoch": 0, "base_sequence": 0}
    )
    builder = MemoryRecordsBuilder(magic=magic, compression_type=0, batch_size=1 << 20, **described)
    builder.append(timestamp=int(time.time() * 1000), key=None, value=value)
    builder.close()
    return bytes(builder.buffer())
