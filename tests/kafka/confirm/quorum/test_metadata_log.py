"""Batches of the metadata log as kafka-python reads them, and prefixes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kafka.record.memory_records import MemoryRecords

from waterline.checker.kafka.confirm.codec import read_message, read_record
from waterline.checker.kafka.confirm.definitions import Definitions
from waterline.checker.kafka.confirm.quorum.state import (
    QUORUM_EPOCH,
    MetadataLog,
    MetadataRecord,
)

LEADER_CHANGE = """{"type": "data", "name": "LeaderChangeMessage", "validVersions": "0",
  "flexibleVersions": "0+", "fields": [
  {"name": "Version", "type": "int16", "versions": "0+"},
  {"name": "LeaderId", "type": "int32", "versions": "0+"},
  {"name": "Voters", "type": "[]Voter", "versions": "0+"},
  {"name": "GrantingVoters", "type": "[]Voter", "versions": "0+"}],
  "commonStructs": [{"name": "Voter", "versions": "0+", "fields": [
    {"name": "VoterId", "type": "int32", "versions": "0+"}]}]}"""
THING = """{"apiKey": 3, "type": "metadata", "name": "ThingRecord", "validVersions": "0",
  "flexibleVersions": "0+", "fields": [{"name": "Port", "type": "int32", "versions": "0+"}]}"""


@pytest.fixture
def definitions() -> Definitions:
    found = Definitions()
    for text in (LEADER_CHANGE, THING):
        found.add(text)
    return found


def thing(port: int) -> MetadataRecord:
    return MetadataRecord("ThingRecord", 0, {"port": port})


def ports(definitions: Definitions, data: bytes) -> list[tuple[int, int]]:
    """Offset and port of each record; a batch whose checksum is wrong fails."""
    found = []
    for batch in MemoryRecords(data):
        assert batch.validate_crc()
        assert batch.leader_epoch == QUORUM_EPOCH
        found += [(e.offset, read_record(definitions, bytes(e.value))[2].port) for e in batch]
    return found


def test_the_log_begins_with_the_leader_of_the_quorum(definitions: Definitions) -> None:
    log = MetadataLog(definitions, 3000)
    [batch] = list(MemoryRecords(log.between(0, 1)))
    is_whole = batch.validate_crc()  # kafka-python checks it before it reads records alone.
    [record] = list(batch)
    value, _ = read_message(definitions.by_name["LeaderChangeMessage"], 0, bytes(record.value))

    assert log.end == 1
    assert batch.is_control_batch
    assert is_whole
    assert bytes(record.key) == b"\0\0\0\2"
    assert (value.leader_id, value.voters) == (3000, [{"voter_id": 3000}])


def test_a_reader_gets_a_prefix_of_whole_batches(definitions: Definitions) -> None:
    log = MetadataLog(definitions, 3000)

    assert log.append([thing(7), thing(8)]) == 3
    assert log.append([thing(9)]) == 4
    assert ports(definitions, log.between(1, 4)) == [(1, 7), (2, 8), (3, 9)]
    assert ports(definitions, log.between(1, 3)) == [(1, 7), (2, 8)]
    assert ports(definitions, log.between(3, 4)) == [(3, 9)]
    assert ports(definitions, log.between(2, 3)) == [(1, 7), (2, 8)]
    assert log.between(1, 2) == b""
    assert log.between(4, 4) == b""


def test_readers_may_see_a_record_each_in_its_own_way(definitions: Definitions) -> None:
    log = MetadataLog(definitions, 3000)
    log.append([thing(7)])

    shown = log.between(1, 2, lambda record: replace(record, values={"port": 70}))

    assert ports(definitions, shown) == [(1, 70)]
    assert ports(definitions, log.between(1, 2)) == [(1, 7)]


def test_an_empty_batch_is_refused(definitions: Definitions) -> None:
    with pytest.raises(ValueError, match="at least one record"):
        MetadataLog(definitions, 3000).append([])
