"""A running cluster, read by Kafka's admin API and never changed.

Only the requests in `ALLOWED` are sent; any other is refused before it leaves. The only
configurations requested are the settings of `checker.kafka.deployed.keys`, which hold no secrets.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from waterline.checker.kafka.deployed.client_properties import client_arguments
from waterline.checker.kafka.deployed.deployment import (
    BadConfig,
    Deployment,
    Node,
    Partition,
    Setting,
    Topic,
)
from waterline.checker.kafka.deployed.keys import (
    BROKER,
    ELIGIBLE,
    METADATA,
    MIN_INSYNC,
    NOT_MODELLED,
    REPLICATION,
    ROLES,
    SOFTWARE,
    SOURCES,
    TOPIC_REPLICATION,
    UNCLEAN,
    ZOOKEEPER,
)
from waterline.checker.kafka.deployed.release_text import metadata_version
from waterline.checker.problem.distribution import install_command
from waterline.checker.problem.errors import Missing
from waterline.checker.problem.wording import quantity

try:
    from kafka import KafkaAdminClient
    from kafka.admin import ConfigResource, ConfigResourceType
    from kafka.errors import KafkaError
except ImportError:
    raise Missing(f"--bootstrap-server needs kafka-python: {install_command('kafka')}") from None

ANSWER_MS_MAX = 15_000
"""Time limit for a cluster's answer, in milliseconds."""
ALLOWED = frozenset(
    {
        "ApiVersionsRequest",
        "MetadataRequest",
        "DescribeConfigsRequest",
        "DescribeTopicPartitionsRequest",
        "ListPartitionReassignmentsRequest",
    }
)
"""The requests that may leave; DescribeTopicPartitions where eligible leader replicas are on, and
ListPartitionReassignments there or where partitions are read."""
TOPICS_AT_ONCE = 200
_OF_BROKERS = (ROLES, ZOOKEEPER, BROKER, REPLICATION, MIN_INSYNC, UNCLEAN)
_OF_TOPICS = (MIN_INSYNC, UNCLEAN)
_MAY_DIFFER = (ROLES, ZOOKEEPER)
_DEFAULT = "DEFAULT_CONFIG"
_NO_ELR = Setting(ELIGIBLE, "0", "default")


def read_cluster(
    servers: str, command_config: Path | None = None, *, with_partitions: bool = False
) -> Deployment:
    """Return the deployment at `servers`, as it describes itself. Raises `BadConfig`, `Missing`."""
    arguments = client_arguments(command_config)
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    # Made in two steps, so that one that cannot connect is closed as well.
    client = KafkaAdminClient.__new__(KafkaAdminClient)
    try:
        try:
            client.__init__(
                bootstrap_servers=[server.strip() for server in servers.split(",")],
                client_id="waterline-matrix",
                request_timeout_ms=ANSWER_MS_MAX,
                bootstrap_timeout_ms=ANSWER_MS_MAX,
                **arguments,
            )
            _let_through_reading_alone(client)
            return _read(client, with_partitions=with_partitions)
        finally:
            _close(client)
    except (KafkaError, OSError, ValueError, AssertionError) as problem:
        raise BadConfig(_describe(servers, problem)) from None


def _close(client: Any) -> None:
    """Close the connections and the thread, also of a client that never connected."""
    for name, end in (("_metrics", "close"), ("_client", "close"), ("_net", "stop")):
        part = getattr(client, name, None)
        if part is not None:
            getattr(part, end)()
    client._closed = True


def _let_through_reading_alone(client: Any) -> None:
    """Make the client refuse every request that could change anything."""
    manager = client._manager
    send = manager.send

    def send_if_reading(request: Any, *given: Any, **named: Any) -> Any:
        if type(request).__name__ not in ALLOWED:
            raise AssertionError(f"{type(request).__name__} would not only read")
        return send(request, *given, **named)

    manager.send = send_if_reading


def _describe(servers: str, problem: Exception) -> str:
    name = type(problem).__name__
    if "Authentication" in name or "SaslAuth" in name:
        return f"{servers} refuses the credentials ({name}); see --command-config"
    if "Authorization" in name:
        return (
            f"{servers}: not authorised ({name}); the user needs Describe and DescribeConfigs on "
            "cluster and topics"
        )
    if "Version" in name:
        return f"{servers} is older than what can be asked here, 0.11 ({name}); save its dumps"
    text = " ".join(str(problem).split())[:160]
    return (
        f"{servers} does not answer as a Kafka broker ({name}: {text}); check host, port and "
        "security.protocol of --command-config; a broker that has just died is listed for some "
        "seconds: ask again"
    )


def _read(client: Any, *, with_partitions: bool = False) -> Deployment:
    # Its describe_cluster fails on brokers before 3.7, whose answer has no endpoint_type.
    cluster = client._manager.run(client._get_cluster_metadata, [])
    brokers = sorted(broker["node_id"] for broker in cluster["brokers"])
    notes: list[str] = []
    settings, unused = _of_brokers(client, brokers, notes)
    settings |= _features(client, notes)
    described = _descriptions(client, notes)
    has_elr = settings.get(ELIGIBLE, _NO_ELR).value == "1"
    # A partition with an unknown ELR, or replicas that may be new, is not one as it is now.
    tolerated = () if with_partitions else (KafkaError,)
    adding = _adding(client, notes, tolerated) if has_elr or with_partitions else None
    names = [topic["name"] for topic in described]
    elrs = _elrs(client, names, notes, tolerated) if has_elr else {}
    topics = list(_topics(client, described, adding, elrs, notes))
    # Brokers that are down are not listed, and yet replicas.
    everyone = {*brokers, *(b for topic in topics for each in topic.now for b in each.replicas)}
    count = Setting("brokers", str(len(everyone)), "the cluster")
    return Deployment(
        brokers=settings,
        topics=tuple(topics),
        has_all_topics=bool(topics),
        broker_count=count,
        unused=tuple(unused.values()),
        notes=tuple(notes),
        sources=("the cluster",),
        nodes=tuple(Node(b["node_id"], b.get("rack")) for b in cluster["brokers"]),
    )


def _configuration(
    client: Any, kind: str, names: Sequence[str], keys: Sequence[str]
) -> Mapping[str, Mapping[str, Any]]:
    """Return the configuration entries with these keys, by broker or topic."""
    kinds = {"broker": ConfigResourceType.BROKER, "topic": ConfigResourceType.TOPIC}
    resources = [ConfigResource(kinds[kind], name, dict.fromkeys(keys)) for name in names]
    found: dict[str, Mapping[str, Any]] = client.describe_configs(
        resources, config_filter="all"
    ).get(kind, {})
    return found


def _of_brokers(
    client: Any, brokers: Sequence[int], notes: list[str]
) -> tuple[dict[str, Setting], dict[str, Setting]]:
    """The settings of all brokers, and those that are read and not used."""
    used: dict[str, Setting] = {}
    unused: dict[str, Setting] = {}
    keys = (*_OF_BROKERS, *NOT_MODELLED)
    for broker, entries in _configuration(
        client, "broker", [str(b) for b in brokers], keys
    ).items():
        if not entries:
            notes.append(
                f"The configuration of broker {broker} was not given; the user needs "
                "DescribeConfigs on the cluster. Kafka's defaults were taken for it."
            )
        for key, entry in entries.items():
            value, source = entry.get("value"), entry["config_source"]
            if key not in keys or value in (None, ""):
                continue
            if key == ZOOKEEPER:
                value = "set"  # Addresses are nobody's business.
            setting = Setting(key, value, f"{SOURCES.get(source, 'broker')}, broker {broker}")
            if key in NOT_MODELLED:
                if source != _DEFAULT:
                    unused.setdefault(key, setting)
                continue
            if key == REPLICATION and source == _DEFAULT:
                continue
            known = used.setdefault(key, setting)
            if known.value != value and key not in _MAY_DIFFER:
                notes.append(
                    f"Brokers disagree: {key} is {known.value} ({known.source}) and {value} "
                    f"({setting.source}); the first was taken."
                )
    return used, unused


def _features(client: Any, notes: list[str]) -> dict[str, Setting]:
    """The levels of KRaft's features, and by what the brokers support the release they run."""
    try:
        features = client.describe_features()
    except KafkaError:
        return {}  # Before 2.4 there are none.
    found: dict[str, Setting] = {}
    metadata = features.get(METADATA, {})
    for key, level in (
        (METADATA, (metadata.get("finalized") or (0, 0))[1]),
        (SOFTWARE, (metadata.get("supported") or (0, 0))[1]),
    ):
        if not level:
            continue
        name = metadata_version(level)
        if name is None:
            notes.append(f"metadata.version level {level} is not known here; say --kafka-version.")
            continue
        value = name if key == METADATA else name.partition("-")[0]
        found[key] = Setting(key, value, "kafka-features of the cluster")
    if found and ELIGIBLE in features:
        level = (features[ELIGIBLE].get("finalized") or (0, 0))[1]
        found[ELIGIBLE] = Setting(ELIGIBLE, str(level), "kafka-features of the cluster")
    elif METADATA in found:
        found[ELIGIBLE] = Setting(ELIGIBLE, "0", "kafka-features of the cluster")
    return found


def _descriptions(client: Any, notes: list[str]) -> list[Mapping[str, Any]]:
    described = [topic for topic in client.describe_topics() if topic.get("name")]
    refused = [topic["name"] for topic in described if topic.get("error_code")]
    if refused:
        notes.append(
            f"{quantity(len(refused), 'topic')} could not be read (not authorised, or being "
            f"deleted): {', '.join(sorted(refused)[:3])}."
        )
    readable = (topic for topic in described if not topic.get("error_code"))
    return sorted(readable, key=lambda topic: str(topic["name"]))


_Brokers = Mapping[tuple[str, int], tuple[int, ...]] | None
"""Brokers by topic and partition, as those that a reassignment adds; None if unknown."""


def _topics(
    client: Any,
    described: Sequence[Mapping[str, Any]],
    adding: _Brokers,
    elrs: _Brokers,
    notes: list[str],
) -> Iterator[Topic]:
    silent = 0
    for start in range(0, len(described), TOPICS_AT_ONCE):
        some = described[start : start + TOPICS_AT_ONCE]
        names = [topic["name"] for topic in some]
        configs = _configuration(client, "topic", names, _OF_TOPICS)
        for topic in some:
            entries = configs.get(topic["name"], {})
            silent += not entries
            yield _topic(topic, entries, adding, elrs)
    if silent:
        notes.append(
            f"The configuration of {quantity(silent, 'topic')} was not given; the user needs "
            "DescribeConfigs on topics. That of the brokers was taken."
        )


_Tolerated = tuple[type[KafkaError], ...]
"""Errors that become a note."""


def _adding(client: Any, notes: list[str], tolerated: _Tolerated) -> _Brokers:
    try:
        found = client.list_partition_reassignments()
    except tolerated as problem:
        notes.append(
            f"Reassignments could not be read ({type(problem).__name__}): a broker that is being "
            "added, perhaps to an ELR, is not seen. The user needs Describe on the cluster."
        )
        return None
    return {at: tuple(each.get("adding_replicas", ())) for at, each in found.items()}


def _elrs(client: Any, topics: Sequence[str], notes: list[str], tolerated: _Tolerated) -> _Brokers:
    """Return the eligible leader replicas of partitions (KIP-966)."""
    try:
        return {
            (name, each["partition_index"]): tuple(each["eligible_leader_replicas"] or ())
            for name, each in _partitions_with_elr(client, topics)
        }
    except tolerated as problem:
        notes.append(
            f"The ELR of partitions could not be read ({type(problem).__name__}): whether a broker "
            "in it may be empty is not known. kafka-topics --describe shows it."
        )
        return None


def _partitions_with_elr(
    client: Any, topics: Sequence[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every partition as DescribeTopicPartitions has it, which answers page by page."""
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        cursor = None
        while True:
            some = topics[start : start + TOPICS_AT_ONCE]
            page = client.describe_topic_partitions(some, cursor=cursor)
            for topic in page["topics"]:
                yield from ((topic["name"], partition) for partition in topic["partitions"])
            if page["next_cursor"] in (None, cursor):
                break
            cursor = page["next_cursor"]


def _topic(
    described: Mapping[str, Any],
    entries: Mapping[str, Any],
    adding: _Brokers,
    elrs: _Brokers,
) -> Topic:
    settings = {
        key: Setting(key, entry["value"], SOURCES.get(entry["config_source"], "the cluster"))
        for key, entry in entries.items()
        if key in _OF_TOPICS and entry.get("value") is not None
    }
    now = []
    for place, each in enumerate(described["partitions"]):
        at = described["name"], each.get("partition_index", place)
        added = None if adding is None else adding.get(at, ())
        now.append(
            Partition(
                number=at[1],
                leader=each["leader_id"] if each["leader_id"] >= 0 else None,
                replicas=tuple(b for b in each["replica_nodes"] if b not in (added or ())),
                isr=tuple(each["isr_nodes"]),
                elr=None if elrs is None else elrs.get(at, ()),
                adding=added,
            )
        )
    if now:
        fewest = str(min(len(each.replicas) for each in now))
        settings[TOPIC_REPLICATION] = Setting(TOPIC_REPLICATION, fewest, "the topic's partitions")
    return Topic(name=described["name"], settings=settings, now=tuple(now))
