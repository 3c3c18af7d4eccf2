"""Kafka's wire protocol over plain sockets, by the schemas of the package kio.

Values are plain dictionaries by kio's field names: a declaration takes of them what its version
has, so that one text serves all releases. Record batches are read and made by kafka-python.
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import itertools
import socket
import struct
import threading
import time
import types
import typing
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from waterline.checker.kafka.confirm.errors import NoAnswer, NotInstalled

try:
    from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder
    from kio.index import load_request_schema, load_response_schema
    from kio.schema.errors import ErrorCode
    from kio.serial import entity_reader, entity_writer
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
HOST = "127.0.0.1"
"""Loopback: other machines see nothing of the harness or its brokers."""

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


def request_bytes(key: int, version: int, values: Mapping[str, Any]) -> bytes:
    """A whole request, less the frame's length."""
    kind = load_request_schema(key, version)
    header = _fill(
        kind.__header_schema__,
        {
            "request_api_key": key,
            "request_api_version": version,
            "correlation_id": next(_correlations),
            "client_id": "waterline",
        },
    )
    out = io.BytesIO()
    entity_writer(kind.__header_schema__)(out, header)
    entity_writer(kind)(out, _fill(kind, values))
    return out.getvalue()


def read_request(frame: bytes) -> Request:
    """Return the request in a frame. Raises `NoAnswer` if kio cannot read it."""
    key, version = kind_of(frame)
    try:
        body = _body(load_request_schema(key, version), frame)
    except Exception as problem:
        raise NoAnswer(f"request {key} of version {version} cannot be read: {problem}") from None
    return Request(key, version, body)


def read_answer(key: int, version: int, frame: bytes) -> Any:
    """Return the answer in a frame to a request of that kind. Raises `NoAnswer`."""
    try:
        return _body(load_response_schema(key, version), frame)
    except Exception as problem:
        raise NoAnswer(f"the answer to request {key} cannot be read: {problem}") from None


def _body(kind: Any, frame: bytes) -> Any:
    """Return the body of a frame of this kind, without its header."""
    _, size = entity_reader(kind.__header_schema__)(frame, 0)
    body, _ = entity_reader(kind)(frame, size)
    return body


def error_name(code: int) -> str:
    """The name of an error code, as `fenced_leader_epoch`; its number where kio has no name."""
    try:
        return str(ErrorCode(code).name)
    except ValueError:
        return f"error {code}"


def kind_of(frame: bytes) -> tuple[int, int]:
    """The kind of a request and its version."""
    key, version = struct.unpack_from(">hh", frame)
    return key, version


def _fill(kind: Any, values: Mapping[str, Any]) -> Any:
    """An entity of this kind: what `values` does not name is zero, empty or null.

    Names that this version does not have are passed over.
    """
    hints = typing.get_type_hints(kind)
    given = {}
    for declared in dataclasses.fields(kind):
        if declared.name in values:
            given[declared.name] = _convert(hints[declared.name], values[declared.name])
        elif declared.default is dataclasses.MISSING:
            given[declared.name] = _nothing(hints[declared.name])
    return kind(**given)


def _convert(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    if typing.get_origin(hint) in {typing.Union, types.UnionType}:
        hint = next(part for part in typing.get_args(hint) if part is not type(None))
    if typing.get_origin(hint) is tuple:
        return tuple(_convert(typing.get_args(hint)[0], each) for each in value)
    if dataclasses.is_dataclass(hint):
        return _fill(hint, value)
    return value


def _nothing(hint: Any) -> Any:
    origin = typing.get_origin(hint)
    if origin in {typing.Union, types.UnionType}:
        return None
    if origin is tuple:
        return ()
    if dataclasses.is_dataclass(hint):
        return _fill(hint, {})
    if issubclass(hint, datetime.timedelta):
        return datetime.timedelta()
    if issubclass(hint, uuid.UUID):
        return None
    for plain in (bool, int, str, bytes):
        if issubclass(hint, plain):
            return plain()
    raise TypeError(f"no empty value of type {hint}")


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
    return read_answer(key, version, frame)


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
