"""The few messages between a broker and its controller, with the fields that the harness uses.

They stand in for those of a release's jars, so that tests need no jars.
"""

from __future__ import annotations

import json
from typing import Any

from waterline.checker.kafka.confirm.definitions import Definitions

_SIMPLE = {
    "i8": "int8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "s": "string",
    "b": "bool",
    "u": "uuid",
    "r": "records",
}


def _fields(described: dict[str, Any]) -> list[dict[str, Any]]:
    """`{"Name": "s", "Isr": "[]i32", "Topics": {...}}`; what is nested is an array of structs."""
    found = []
    for name, kind in described.items():
        made: dict[str, Any] = {"name": name, "versions": "0+"}
        if isinstance(kind, dict):
            is_struct = kind.get("one", False)
            inner = {each: of for each, of in kind.items() if each != "one"}
            made |= {"type": f"{'' if is_struct else '[]'}{name}Of", "fields": _fields(inner)}
        else:
            prefix, letter = ("[]", kind[2:]) if kind.startswith("[]") else ("", kind)
            letter, _, default = letter.partition("=")
            made |= {"type": prefix + _SIMPLE[letter], "nullableVersions": "0+"}
            if default:
                made["default"] = default
        found.append(made)
    return found


def _added(to: Definitions, kind: str, key: int, name: str, described: dict[str, Any]) -> None:
    text = {
        "type": kind,
        "name": name,
        "apiKey": key,
        "validVersions": "0-3",
        "flexibleVersions": "0+",
        "fields": _fields(described),
    }
    to.add(json.dumps(text))


def few_definitions() -> Definitions:
    """Requests, answers and records of KRaft, each with some of its fields."""
    found = Definitions()
    heads = {"RequestHeader": {"RequestApiKey": "i16", "RequestApiVersion": "i16"}}
    for name in ("RequestHeader", "ResponseHeader"):
        text = {
            "type": "header",
            "name": name,
            "validVersions": "0-2",
            "flexibleVersions": "none",
            "fields": _fields({**heads.get(name, {}), "CorrelationId": "i32"}),
        }
        found.add(json.dumps(text))
    voters = {"VoterId": "i32"}
    _added(
        found,
        "data",
        -1,
        "LeaderChangeMessage",
        {"LeaderId": "i32", "Voters": voters, "GrantingVoters": voters},
    )
    features = {"Name": "s", "MinSupportedVersion": "i16", "MaxSupportedVersion": "i16"}
    endpoints = {"Name": "s", "Host": "s", "Port": "i32"}
    isr = {"BrokerId": "i32", "BrokerEpoch": "i64"}
    state = {"LeaderEpoch": "i32", "PartitionEpoch": "i32", "LeaderRecoveryState": "i8"}
    asked = {"FetchOffset": "i64", "CurrentLeaderEpoch": "i32"}
    leader = {"LeaderId": "i32", "LeaderEpoch": "i32", "one": True}
    messages: tuple[tuple[int, str, dict[str, Any], dict[str, Any]], ...] = (
        (
            1,
            "Fetch",
            {"MaxWaitMs": "i32", "Topics": {"TopicId": "u", "Partitions": asked}},
            {
                "Responses": {
                    "TopicId": "u",
                    "Partitions": {
                        "ErrorCode": "i16",
                        "HighWatermark": "i64",
                        "CurrentLeader": leader,
                        "Records": "r",
                    },
                }
            },
        ),
        (18, "ApiVersions", {}, {"ApiKeys": {"ApiKey": "i16", "MaxVersion": "i16"}}),
        (55, "DescribeQuorum", {}, {"ErrorCode": "i16"}),
        (
            56,
            "AlterPartition",
            {
                "BrokerId": "i32",
                "Topics": {"TopicId": "u", "Partitions": {"NewIsrWithEpochs": isr, **state}},
            },
            {
                "Topics": {
                    "TopicId": "u",
                    "Partitions": {"ErrorCode": "i16", "LeaderId": "i32", "Isr": "[]i32", **state},
                }
            },
        ),
        (
            62,
            "BrokerRegistration",
            {
                "BrokerId": "i32",
                "IncarnationId": "u",
                "Listeners": endpoints,
                "Features": features,
                "Rack": "s",
                "LogDirs": "[]u",
                "PreviousBrokerEpoch": "i64=-1",
            },
            {"ErrorCode": "i16", "BrokerEpoch": "i64"},
        ),
        (
            63,
            "BrokerHeartbeat",
            {
                "BrokerEpoch": "i64",
                "CurrentMetadataOffset": "i64",
                "WantFence": "b",
                "WantShutDown": "b",
            },
            {"ErrorCode": "i16", "IsCaughtUp": "b", "IsFenced": "b", "ShouldShutDown": "b"},
        ),
        (
            73,
            "AssignReplicasToDirs",
            {
                "BrokerId": "i32",
                "Directories": {
                    "Id": "u",
                    "Topics": {"TopicId": "u", "Partitions": {"PartitionIndex": "i32"}},
                },
            },
            {
                "ErrorCode": "i16",
                "Directories": {
                    "Id": "u",
                    "Topics": {
                        "TopicId": "u",
                        "Partitions": {"PartitionIndex": "i32", "ErrorCode": "i16"},
                    },
                },
            },
        ),
    )
    for key, name, request, answer in messages:
        _added(found, "request", key, f"{name}Request", request)
        _added(found, "response", key, f"{name}Response", answer)
    change = {"Leader": "i32=-2", "Isr": "[]i32=null", "LeaderRecoveryState": "i8=-1"}
    records: tuple[tuple[int, str, dict[str, Any]], ...] = (
        (
            0,
            "RegisterBrokerRecord",
            {
                "BrokerId": "i32",
                "IncarnationId": "u",
                "BrokerEpoch": "i64",
                "EndPoints": endpoints,
                "Features": features,
                "Rack": "s",
                "Fenced": "b",
                "LogDirs": "[]u",
            },
        ),
        (2, "TopicRecord", {"Name": "s", "TopicId": "u"}),
        (
            3,
            "PartitionRecord",
            {
                "PartitionId": "i32",
                "TopicId": "u",
                "Replicas": "[]i32",
                "Isr": "[]i32",
                "Leader": "i32",
                "LeaderEpoch": "i32",
                "PartitionEpoch": "i32",
                "Directories": "[]u",
            },
        ),
        (4, "ConfigRecord", {"ResourceType": "i8", "ResourceName": "s", "Name": "s", "Value": "s"}),
        (
            5,
            "PartitionChangeRecord",
            {
                "PartitionId": "i32",
                "TopicId": "u",
                **change,
                "EligibleLeaderReplicas": "[]i32=null",
                "Replicas": "[]i32=null",
                "AddingReplicas": "[]i32=null",
                "RemovingReplicas": "[]i32=null",
                "Directories": "[]u=null",
            },
        ),
        (9, "RemoveTopicRecord", {"TopicId": "u"}),
        (12, "FeatureLevelRecord", {"Name": "s", "FeatureLevel": "i16"}),
        (
            17,
            "BrokerRegistrationChangeRecord",
            {
                "BrokerId": "i32",
                "BrokerEpoch": "i64",
                "Fenced": "i8",
                "InControlledShutdown": "i8",
            },
        ),
    )
    for key, name, described in records:
        _added(found, "metadata", key, name, described)
    return found
