"""Messages go to bytes and back, by definitions written here and by those of real jars."""

from __future__ import annotations

import random
import uuid
import zipfile
from pathlib import Path
from typing import Any

import pytest

from waterline.checker.kafka.confirm.codec import (
    message_bytes,
    read_message,
    read_record,
    read_request_frame,
    read_response_frame,
    record_bytes,
    request_frame,
    response_frame,
)
from waterline.checker.kafka.confirm.definitions import (
    Definitions,
    Field,
    Message,
    Struct,
    Versions,
    definitions_in,
)
from waterline.checker.kafka.confirm.errors import NoJars

SEEN = 3
"""How many random values of each message and version."""
LIMITS = {
    "int8": 1 << 7,
    "int16": 1 << 15,
    "int32": 1 << 31,
    "int64": 1 << 63,
}
REQUEST_HEADER = """{"type": "header", "name": "RequestHeader", "validVersions": "1-2",
  "flexibleVersions": "2+", "fields": [
  {"name": "RequestApiKey", "type": "int16", "versions": "0+"},
  {"name": "RequestApiVersion", "type": "int16", "versions": "0+"},
  {"name": "CorrelationId", "type": "int32", "versions": "0+"},
  {"name": "ClientId", "type": "string", "versions": "1+", "nullableVersions": "1+",
   "flexibleVersions": "none"}]}"""
RESPONSE_HEADER = """{"type": "header", "name": "ResponseHeader", "validVersions": "0-1",
  "flexibleVersions": "1+", "fields": [
  {"name": "CorrelationId", "type": "int32", "versions": "0+"}]}"""
ASK = """// A licence is here.
{"apiKey": 7, "type": "request", "name": "AskRequest", "validVersions": "0-2",
  // More was added in version 2.
  "flexibleVersions": "1+",
  "commonStructs": [{"name": "Place", "versions": "0+", "fields": [
    {"name": "HostName", "type": "string", "versions": "0+"},
    {"name": "Port", "type": "uint16", "versions": "0+"}]}],
  "fields": [
  {"name": "Number", "type": "int32", "versions": "0+", "default": "0x10"},
  {"name": "Places", "type": "[]Place", "versions": "0+", "nullableVersions": "1+"},
  {"name": "Nearest", "type": "Place", "versions": "1+", "nullableVersions": "1+",
   "default": "null"},
  {"name": "Extra", "type": "string", "versions": "1+", "taggedVersions": "1+", "tag": "3",
   "nullableVersions": "1+", "default": "null"},
  {"name": "Home", "type": "Place", "versions": "2+", "taggedVersions": "2+", "tag": 0},
  {"name": "Which", "type": "uuid", "versions": "2+"},
  {"name": "IsSure", "type": "bool", "versions": "0+", "default": "true"},
  {"name": "Share", "type": "float64", "versions": "2+"},
  {"name": "Data", "type": "records", "versions": "0+", "nullableVersions": "0+"}]}"""
ANSWER = """{"apiKey": 7, "type": "response", "name": "AskResponse", "validVersions": "0-2",
  "flexibleVersions": "1+", "fields": [
  {"name": "ErrorCode", "type": "int16", "versions": "0+"}]}"""
RECORD = """{"apiKey": 300, "type": "metadata", "name": "ThingRecord", "validVersions": "0-1",
  "flexibleVersions": "0+", "fields": [
  {"name": "ThingId", "type": "int32", "versions": "0+"},
  {"name": "Isr", "type": "[]int32", "versions": "0+", "default": "null",
   "nullableVersions": "0+", "taggedVersions": "0+", "tag": 0}]}"""
NOTHING = '{"apiKey": 8, "type": "request", "name": "GoneRequest", "validVersions": "none"}'


@pytest.fixture
def few() -> Definitions:
    found = Definitions()
    for text in (REQUEST_HEADER, RESPONSE_HEADER, ASK, ANSWER, RECORD, NOTHING):
        found.add(text)
    return found


def chosen(fields: tuple[Field, ...], version: int, luck: random.Random) -> Struct:
    """A random value for every field that the version has."""
    return Struct({e.name: value(e, version, luck) for e in fields if version in e.versions})


def value(of: Field, version: int, luck: random.Random) -> Any:
    if version in of.nullable and luck.random() < 0.3:
        return None
    if of.kind.startswith("[]"):
        return [element(of, of.kind[2:], version, luck) for _ in range(luck.randrange(3))]
    return element(of, of.kind, version, luck)


def element(of: Field, kind: str, version: int, luck: random.Random) -> Any:
    if kind in LIMITS:
        return luck.randrange(-LIMITS[kind], LIMITS[kind])
    plain = {
        "bool": lambda: luck.random() < 0.5,
        "float64": luck.random,
        "uint16": lambda: luck.randrange(1 << 16),
        "uint32": lambda: luck.randrange(1 << 32),
        "uuid": lambda: uuid.UUID(int=luck.getrandbits(128)),
        "string": lambda: "é" * luck.randrange(200),
        "bytes": lambda: luck.randbytes(luck.randrange(200)),
        "records": lambda: luck.randbytes(luck.randrange(200)),
    }
    return plain[kind]() if kind in plain else chosen(of.inner, version, luck)


def versions(message: Message) -> range:
    return range(message.valid.low, message.valid.high + 1)


def require_round_trip(found: Definitions) -> int:
    """How many values came back as they were."""
    luck = random.Random(1)
    tried = 0
    for message in found.by_name.values():
        for version in versions(message):
            for _ in range(SEEN):
                values = chosen(message.fields, version, luck)
                data = message_bytes(message, version, values)

                assert read_message(message, version, data) == (values, len(data)), message.name
                tried += 1
    return tried


def test_random_values_come_back_as_they_were(few: Definitions) -> None:
    assert require_round_trip(few) == (2 + 2 + 3 + 3 + 2) * SEEN


def test_bytes_are_those_of_the_protocol(few: Definitions) -> None:
    ask = few.by_name["AskRequest"]
    places = [{"host_name": "ab", "port": 258}]

    assert message_bytes(ask, 0, {"places": places, "is_sure": False}) == (
        b"\0\0\0\x10\0\0\0\1\0\2ab\1\2\0\0\0\0\0"
    )
    assert message_bytes(ask, 1, {"places": None, "extra": "x", "data": None}) == (
        b"\0\0\0\x10\0\xff\1\0\1\3\2\2x"
    )


def test_a_field_that_nobody_set_has_its_default(few: Definitions) -> None:
    ask = few.by_name["AskRequest"]
    found, _ = read_message(ask, 2, message_bytes(ask, 2, {}))

    assert (found.number, found.places, found.nearest, found.extra) == (16, [], None, None)
    assert found.home == {"host_name": "", "port": 0}
    assert found.is_sure is True


def test_a_tag_that_is_not_defined_is_skipped(few: Definitions) -> None:
    record = few.by_name["ThingRecord"]
    data = b"\0\0\0\5" + b"\2" + b"\0\5" + b"\2\0\0\0\7" + b"\x09\3abc"

    assert read_message(record, 0, data) == ({"thing_id": 5, "isr": [7]}, len(data))


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_request_has_the_header_of_its_version(few: Definitions, version: int) -> None:
    header, body = read_request_frame(few, request_frame(few, 7, version, 40, {"number": 9}))

    assert (header.request_api_key, header.request_api_version) == (7, version)
    assert (header.correlation_id, header.client_id, body.number) == (40, "waterline", 9)


def test_a_response_has_the_header_of_its_version(few: Definitions) -> None:
    assert response_frame(few, 7, 0, 1, {"error_code": 2}) == b"\0\0\0\1\0\2"
    assert response_frame(few, 7, 1, 1, {"error_code": 2}) == b"\0\0\0\1\0\0\2\0"
    assert read_response_frame(few, 7, 1, b"\0\0\0\1\0\0\2\0").error_code == 2


def test_a_record_names_its_kind_and_version(few: Definitions) -> None:
    data = record_bytes(few, "ThingRecord", 1, {"thing_id": 5, "isr": [1, 2]})

    assert data.startswith(b"\1\xac\2\1")
    assert read_record(few, data) == ("ThingRecord", 1, {"thing_id": 5, "isr": [1, 2]})
    with pytest.raises(KeyError, match="ThingRecord has no field isrs"):
        record_bytes(few, "ThingRecord", 1, {"isrs": []})


def test_a_message_that_is_cut_off_is_not_read(few: Definitions) -> None:
    ask = few.by_name["AskRequest"]
    data = message_bytes(ask, 1, {"data": b"records"})

    with pytest.raises(ValueError, match="ends within a field"):
        read_message(ask, 1, data[:-3])


def test_jars_without_definitions_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "kafka-clients-1.jar", "w") as file:
        file.writestr("common/message/AskRequest.json", ASK)

    with pytest.raises(NoJars, match="no jar of the release defines"):
        definitions_in([tmp_path / "kafka-clients-1.jar"])


def test_versions_are_read() -> None:
    texts = ("3", "2-5", "4+", "none")

    assert [7 in Versions.read(text) for text in texts] == [False, False, True, False]
    assert [3 in Versions.read(text) for text in texts] == [True, True, False, False]
