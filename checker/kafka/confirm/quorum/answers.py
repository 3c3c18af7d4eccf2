"""Answers of the scripted controller to what brokers ask it.

Brokers of 3.9 to 4.4 ask for these and nothing else: ApiVersions, Fetch of the metadata log,
BrokerRegistration, BrokerHeartbeat, AlterPartition, which waits for the script, and, when a log
moves between directories, AssignReplicasToDirs.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

from waterline.checker.kafka.confirm.codec import (
    API_VERSIONS,
    read_request_frame,
    response_frame,
)
from waterline.checker.kafka.confirm.definitions import Struct
from waterline.checker.kafka.confirm.quorum.state import (
    ELIGIBLE_LEADER_REPLICAS,
    METADATA_VERSION,
    NO_BROKER_EPOCH,
    NODE,
    QUORUM_EPOCH,
    REGISTRATION,
    AlterRequest,
    MetadataRecord,
    QuorumState,
)

FETCH, ALTER_PARTITION, REGISTER, HEARTBEAT = 1, 56, 62, 63
_ENVELOPE, _DESCRIBE_QUORUM, _FETCH_SNAPSHOT, _ASSIGN_DIRECTORIES = 58, 55, 59, 73
SPOKEN = (
    FETCH,
    API_VERSIONS,
    _DESCRIBE_QUORUM,
    ALTER_PARTITION,
    _ENVELOPE,
    _FETCH_SNAPSHOT,
    REGISTER,
    HEARTBEAT,
    _ASSIGN_DIRECTORIES,
)
"""Requests that ApiVersions lists. Brokers demand some that they never send."""
_ALL_THE_TIME = frozenset({FETCH, API_VERSIONS, HEARTBEAT})
"""Requests that brokers send constantly or at each connection; they are not recorded."""
METADATA_TOPIC = uuid.UUID(int=1)
FENCED_LEADER_EPOCH, STALE_BROKER_EPOCH, INVALID_REQUEST = 74, 77, 42
_REGISTRATION_VERSION = 3
"""Version of RegisterBrokerRecord: the first with log directories (KIP-858)."""

Answer = Mapping[str, Any] | None
"""The fields of an answer; None breaks the connection."""


def answer_frame(state: QuorumState, broker: int, frame: bytes) -> bytes | None:
    """The frame that answers a broker's, None to break the connection. May wait."""
    header, body = read_request_frame(state.definitions, frame)
    key, version = header.request_api_key, header.request_api_version
    is_of_note = key not in _ALL_THE_TIME
    if is_of_note:
        name = state.definitions.requests[key].name
        state.watch(f"r{broker} asks the controller", {name: body})
    values = _ANSWERS.get(key, _refuse)(state, broker, body)
    if key not in _ANSWERS:
        with state.changed:
            state.unexpected.append(state.definitions.requests[key].name)
    if is_of_note:
        state.watch(f"the controller answers r{broker}", values or "the connection breaks")
    if values is None:
        return None
    return response_frame(state.definitions, key, version, header.correlation_id, values)


def _refuse(state: QuorumState, broker: int, body: Struct) -> Answer:
    return {"error_code": INVALID_REQUEST}


def _api_versions(state: QuorumState, broker: int, body: Struct) -> Answer:
    keys = [
        {"api_key": key, "min_version": message.valid.low, "max_version": message.valid.high}
        for key, message in sorted(state.definitions.requests.items())
        if key in SPOKEN
    ]
    return {"api_keys": keys}


def _fetch(state: QuorumState, broker: int, body: Struct) -> Answer:
    """Answer with the metadata log from the broker's offset on, or with nothing after a wait.

    Refuses an observer that names no epoch or another one, and names the leader to follow. Answers
    at once if the observer's high watermark is behind (KIP-1166).
    """
    asked = body.topics[0].partitions[0]
    values: dict[str, Any] = {
        "partition_index": 0,
        "aborted_transactions": None,
        "log_start_offset": 0,
        "current_leader": {"leader_id": NODE, "leader_epoch": QUORUM_EPOCH},
    }
    offset = asked.fetch_offset
    if asked.current_leader_epoch != QUORUM_EPOCH:
        values |= {"error_code": FENCED_LEADER_EPOCH, "high_watermark": -1}
    else:
        with state.changed:
            if asked.get("high_watermark", state.limit(broker)) >= state.limit(broker):
                state.changed.wait_for(
                    lambda: state.is_over or state.limit(broker) > offset, body.max_wait_ms / 1000
                )
            end = max(state.limit(broker), offset)
            records = state.read(broker, offset)
        values |= {"records": records, "high_watermark": end, "last_stable_offset": end}
    return {"responses": [{"topic_id": METADATA_TOPIC, "partitions": [values]}]}


def _register(state: QuorumState, broker: int, body: Struct) -> Answer:
    """A new incarnation begins a new broker epoch, fenced (ClusterControlManager.registerBroker).

    The first one of all says which metadata.version the release has: the log begins with that.
    """
    with state.changed:
        known = state.brokers[broker]
        if known.incarnation != body.incarnation_id:
            if state.metadata_version == 0:
                state.append(_feature_levels(state, body))
            known.incarnation, known.epoch = body.incarnation_id, state.log.end
            known.previous_epoch = body.get("previous_broker_epoch", NO_BROKER_EPOCH)
            known.log_dirs = list(body.get("log_dirs", ()))
            known.is_fenced, known.applied = True, -1
            known.wants_unfencing = known.wants_shutdown = known.may_shut_down = False
            values = {
                "broker_id": broker,
                "incarnation_id": known.incarnation,
                "broker_epoch": known.epoch,
                "end_points": body.listeners,
                "features": body.features,
                "rack": body.rack,
                "fenced": True,
                "log_dirs": known.log_dirs,
            }
            state.append([MetadataRecord(REGISTRATION, _REGISTRATION_VERSION, values)])
        state.changed.notify_all()
        return {"broker_epoch": known.epoch}


def _feature_levels(state: QuorumState, body: Struct) -> list[MetadataRecord]:
    """The newest metadata.version that the broker has, and ELR if it is to be on."""
    newest = {each["name"]: each["max_supported_version"] for each in body.features}
    state.metadata_version = newest[METADATA_VERSION]
    levels = {METADATA_VERSION: state.metadata_version}
    if state.with_eligible_leader_replicas:
        levels[ELIGIBLE_LEADER_REPLICAS] = 1
    return [
        MetadataRecord("FeatureLevelRecord", 0, {"name": name, "feature_level": level})
        for name, level in levels.items()
    ]


def _heartbeat(state: QuorumState, broker: int, body: Struct) -> Answer:
    """Note what the broker says; whether it is fenced, and may shut down, is the script's word."""
    with state.changed:
        known = state.brokers[broker]
        if body.broker_epoch != known.epoch:
            return {"error_code": STALE_BROKER_EPOCH}
        known.applied = body.current_metadata_offset
        known.wants_unfencing = not body.want_fence
        known.wants_shutdown = body.want_shut_down
        state.changed.notify_all()
        return {
            "is_caught_up": known.applied >= known.epoch,
            "is_fenced": known.is_fenced,
            "should_shut_down": known.wants_shutdown and known.may_shut_down,
        }


def _alter_partition(state: QuorumState, broker: int, body: Struct) -> Answer:
    """The request waits until the script answers or loses it."""
    asked = AlterRequest(broker, body.topics[0].partitions[0])
    with state.changed:
        state.asked.append(asked)
        state.changed.notify_all()
        state.changed.wait_for(lambda: state.is_over or asked.is_lost or asked.answer is not None)
        state.asked.remove(asked)
        state.changed.notify_all()
        if asked.answer is None:
            return None
        partition = {"partition_index": 0, **asked.answer}
        topic_id = body.topics[0].get("topic_id", state.topic_id)
        return {"topics": [{"topic_id": topic_id, "partitions": [partition]}]}


def _assign_directories(state: QuorumState, broker: int, body: Struct) -> Answer:
    """The broker may put its replicas where it says (KIP-858).

    The record that a controller writes of it is left out: no broker reads it within a trace.
    """
    return {
        "directories": [
            {
                "id": directory.id,
                "topics": [
                    {
                        "topic_id": topic.topic_id,
                        "partitions": [
                            {"partition_index": each.partition_index} for each in topic.partitions
                        ],
                    }
                    for topic in directory.topics
                ],
            }
            for directory in body.directories
        ]
    }


_ANSWERS: dict[int, Callable[[QuorumState, int, Struct], Answer]] = {
    API_VERSIONS: _api_versions,
    FETCH: _fetch,
    REGISTER: _register,
    HEARTBEAT: _heartbeat,
    ALTER_PARTITION: _alter_partition,
    _ASSIGN_DIRECTORIES: _assign_directories,
}
