"""Bytes of messages, by their definitions, both ways.

A flexible version has varint sizes, one more than the size itself, and tagged fields at the end of
each struct. What `values` does not name takes its default; a name that the version does not have is
passed over.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from waterline.checker.kafka.confirm.definitions import (
    BYTES,
    NO_UUID,
    NUMBERS,
    Definitions,
    Field,
    Message,
    Struct,
)

API_VERSIONS = 18
"""The answer has the oldest header in every version: the client may not know any other."""
_RECORD_FRAME = 1
_MORE = 0x80


def message_bytes(message: Message, version: int, values: Mapping[str, Any]) -> bytes:
    """The body of a message."""
    out = bytearray()
    _write_struct(out, message.fields, version, version in message.flexible, values)
    return bytes(out)


def read_message(message: Message, version: int, data: bytes, at: int = 0) -> tuple[Struct, int]:
    """The body that begins at `at`, and where it ends."""
    reader = _Reader(data, at)
    return reader.struct(message.fields, version, version in message.flexible), reader.at


def request_frame(
    definitions: Definitions, key: int, version: int, correlation: int, values: Mapping[str, Any]
) -> bytes:
    """A whole request, less the frame's length."""
    message = definitions.requests[key]
    header = {
        "request_api_key": key,
        "request_api_version": version,
        "correlation_id": correlation,
        "client_id": "waterline",
    }
    kind = definitions.by_name["RequestHeader"]
    head = message_bytes(kind, 2 if version in message.flexible else 1, header)
    return head + message_bytes(message, version, values)


def read_request_frame(definitions: Definitions, frame: bytes) -> tuple[Struct, Struct]:
    """A request's header and body."""
    key, version = struct.unpack_from(">hh", frame)
    message = definitions.requests[key]
    kind = definitions.by_name["RequestHeader"]
    header, at = read_message(kind, 2 if version in message.flexible else 1, frame)
    return header, read_message(message, version, frame, at)[0]


def response_frame(
    definitions: Definitions, key: int, version: int, correlation: int, values: Mapping[str, Any]
) -> bytes:
    """A whole response, less the frame's length."""
    message = definitions.responses[key]
    kind = definitions.by_name["ResponseHeader"]
    is_flexible = version in message.flexible and key != API_VERSIONS
    head = message_bytes(kind, 1 if is_flexible else 0, {"correlation_id": correlation})
    return head + message_bytes(message, version, values)


def read_response_frame(definitions: Definitions, key: int, version: int, frame: bytes) -> Struct:
    """A response's body."""
    message = definitions.responses[key]
    kind = definitions.by_name["ResponseHeader"]
    is_flexible = version in message.flexible and key != API_VERSIONS
    _, at = read_message(kind, 1 if is_flexible else 0, frame)
    return read_message(message, version, frame, at)[0]


def record_bytes(
    definitions: Definitions, name: str, version: int, values: Mapping[str, Any]
) -> bytes:
    """The value of a metadata record: frame version, key, version, body.

    Raises `KeyError` for a name that no version of the record has.
    """
    message = definitions.by_name[name]
    unknown = values.keys() - {each.name for each in message.fields}
    if unknown:
        raise KeyError(f"{name} has no field {', '.join(sorted(unknown))}")
    out = bytearray()
    for each in (_RECORD_FRAME, message.key, version):
        write_varint(out, each)
    return bytes(out) + message_bytes(message, version, values)


def read_record(definitions: Definitions, value: bytes) -> tuple[str, int, Struct]:
    """The name, version and body of a metadata record."""
    reader = _Reader(value, 0)
    _, key, version = (reader.varint() for _ in range(3))
    message = definitions.records[key]
    return message.name, version, read_message(message, version, value, reader.at)[0]


def write_varint(out: bytearray, value: int) -> None:
    """An unsigned number, seven bits a byte, the lowest first."""
    while value >= _MORE:
        out.append(value & (_MORE - 1) | _MORE)
        value >>= 7
    out.append(value)


def write_zigzag(out: bytearray, value: int) -> None:
    """A signed number, the sign in the lowest bit."""
    write_varint(out, (value << 1) ^ (value >> 63))


def _write_struct(
    out: bytearray,
    fields: Sequence[Field],
    version: int,
    is_flexible: bool,
    values: Mapping[str, Any],
) -> None:
    tagged: dict[int, bytes] = {}
    for each in fields:
        if version not in each.versions:
            continue
        usual = each.usual(version)
        value = values.get(each.name, usual)
        if is_flexible and version in each.tagged:
            if value != usual:
                part = bytearray()
                _write(part, each, each.kind, version, True, value)
                tagged[each.tag] = bytes(part)
            continue
        own = is_flexible if each.flexible is None else version in each.flexible
        _write(out, each, each.kind, version, own, value)
    if is_flexible:
        write_varint(out, len(tagged))
        for tag, text in sorted(tagged.items()):
            write_varint(out, tag)
            write_varint(out, len(text))
            out += text


def _write(
    out: bytearray, of: Field, kind: str, version: int, is_flexible: bool, value: Any
) -> None:
    if kind in NUMBERS:
        out += struct.pack(f">{NUMBERS[kind]}", value)
    elif kind == "uuid":
        out += (value or NO_UUID).bytes
    elif kind in BYTES:
        data = value.encode() if isinstance(value, str) else value
        _write_size(out, data, is_flexible, "h" if kind == "string" else "i")
        out += data or b""
    elif kind.startswith("[]"):
        _write_size(out, value, is_flexible, "i")
        for each in value or ():
            _write(out, of, kind[2:], version, is_flexible, each)
    else:
        if _may_be_null(of, version):
            out += struct.pack(">b", -1 if value is None else 1)
        if value is not None:
            _write_struct(out, of.inner, version, is_flexible, value)


def _write_size(out: bytearray, value: Any, is_flexible: bool, letter: str) -> None:
    size = -1 if value is None else len(value)
    if is_flexible:
        write_varint(out, size + 1)
    else:
        out += struct.pack(f">{letter}", size)


def _may_be_null(of: Field, version: int) -> bool:
    """True if a struct has a byte before it that says if it is there; an element has none."""
    return version in of.nullable and not of.kind.startswith("[]")


class _Reader:
    """A place in some bytes, moved on by what is read."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & (_MORE - 1)) << shift
            if byte < _MORE:
                return value
            shift += 7

    def number(self, letter: str) -> Any:
        [value] = struct.unpack_from(f">{letter}", self.data, self.at)
        self.at += struct.calcsize(f">{letter}")
        return value

    def take(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self.data):
            raise ValueError(f"a message ends within a field, at {len(self.data)}")
        return bytes(self.data[self.at - size : self.at])

    def struct(self, fields: Sequence[Field], version: int, is_flexible: bool) -> Struct:
        found = Struct()
        tagged: dict[int, Field] = {}
        for each in fields:
            if version not in each.versions:
                continue
            if is_flexible and version in each.tagged:
                tagged[each.tag] = each
                found[each.name] = each.usual(version)
                continue
            own = is_flexible if each.flexible is None else version in each.flexible
            found[each.name] = self._value(each, each.kind, version, own)
        if is_flexible:
            for _ in range(self.varint()):
                tag, size = self.varint(), self.varint()
                end = self.at + size
                if tag in tagged:
                    of = tagged[tag]
                    found[of.name] = self._value(of, of.kind, version, True)
                self.at = end  # A tag that the definition does not have is skipped.
        return found

    def _value(self, of: Field, kind: str, version: int, is_flexible: bool) -> Any:
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])
        if kind == "uuid":
            return uuid.UUID(bytes=self.take(16))
        if kind in BYTES or kind.startswith("[]"):
            size = self._size(is_flexible, "h" if kind == "string" else "i")
            return None if size < 0 else self._read_sized(of, kind, version, is_flexible, size)
        if _may_be_null(of, version) and self.number("b") < 0:
            return None
        return self.struct(of.inner, version, is_flexible)

    def _read_sized(self, of: Field, kind: str, version: int, is_flexible: bool, size: int) -> Any:
        """A text, bytes or an array of so many."""
        if kind in BYTES:
            part = self.take(size)
            return part.decode() if kind == "string" else part
        return [self._value(of, kind[2:], version, is_flexible) for _ in range(size)]

    def _size(self, is_flexible: bool, letter: str) -> int:
        size: int = self.varint() - 1 if is_flexible else self.number(letter)
        return size
