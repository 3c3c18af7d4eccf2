"""Kubernetes custom resources of Kafka: Strimzi's, and those of Confluent for Kubernetes.

Strimzi: Kafka, KafkaNodePool and KafkaTopic of kafka.strimzi.io, v1 and v1beta2. Confluent: Kafka
and KafkaTopic of platform.confluent.io. Other resources beside them, as Helm renders them, are
counted and left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml.nodes import Node

from checker.kafka.deployed.deployment import Deployment, Topic
from checker.kafka.deployed.keys import METADATA, ROLES, SOFTWARE, TOPIC_REPLICATION, ZOOKEEPER
from checker.kafka.deployed.properties_file import pairs_of, sorted_out
from checker.kafka.deployed.setting import BadConfig, Mistakes, Setting
from checker.kafka.deployed.yaml_nodes import (
    at,
    documents,
    is_mapping,
    items,
    pairs,
    place_of,
    scalar,
)
from checker.problem.wording import counted

_STRIMZI = re.compile(r"kafka\.strimzi\.io/(v1|v1beta2|v1beta1|v1alpha1)")
_CONFLUENT = re.compile(r"platform\.confluent\.io/\w+")
_IMAGE_TAG = re.compile(r":(\d+)\.(\d+)(?:\.(\d+))?")
_CONFLUENT_FIRST_IN_STEP = 7
_BEFORE_CONFLUENT_7 = {5: (2, 0), 6: (2, 6)}
"""Confluent Platform 7.x has Kafka 3.x and 8.x has 4.x; 5.0 had 2.0 and 6.0 had 2.6, and so on."""


@dataclass(slots=True)
class _Found:
    """What the documents of one reading say."""

    path: Path
    mistakes: Mistakes
    clusters: list[str] = field(default_factory=list)
    brokers: dict[str, Setting] = field(default_factory=dict)
    unused: list[Setting] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pools: list[tuple[Setting, set[str]]] = field(default_factory=list)
    replicas: Setting | None = None
    others: Counter[str] = field(default_factory=Counter)

    def setting(self, key: str, node: Node | None, *, of: str = "") -> Setting | None:
        """The scalar of a node as a setting, with its place."""
        value = scalar(node)
        if value is None or node is None:
            return None
        source = f"{of}, {self.path.name}" if of else self.path.name
        return Setting(key, value.strip(), source, place_of(self.path, node))


def read_custom_resources(
    path: Path, text: str, mistakes: Mistakes, *, is_alone: bool = True
) -> Deployment:
    """The cluster that the documents of a YAML file describe.

    A file that `is_alone` must describe one; among others in a folder it may be about else.
    """
    found = _Found(path, mistakes)
    try:
        for document in documents(path, text):
            for resource in _resources(document):
                _read_resource(found, resource)
    except BadConfig as problem:
        mistakes.extend(problem)
        return Deployment()
    if not (found.clusters or found.topics or found.pools) and is_alone:
        kinds = ", ".join(sorted(found.others)) or "none"
        mistakes.add(
            f"{path} has no Kafka, KafkaNodePool or KafkaTopic of Strimzi or Confluent; "
            f"kinds found: {kinds}"
        )
    return _deployment(found)


def _resources(document: Node) -> Iterator[Node]:
    """The resources of a document: itself, or the items of a List, as kubectl prints them."""
    if (scalar(at(document, "kind")) or "").endswith("List"):
        yield from items(at(document, "items"))
    else:
        yield document


def _read_resource(found: _Found, resource: Node) -> None:
    kind, group = scalar(at(resource, "kind")), scalar(at(resource, "apiVersion")) or ""
    readers = {}
    if _STRIMZI.fullmatch(group):
        readers = {
            "Kafka": _read_strimzi_kafka,
            "KafkaNodePool": _read_node_pool,
            "KafkaTopic": _read_strimzi_topic,
        }
    elif _CONFLUENT.fullmatch(group):
        readers = {
            "Kafka": _read_confluent_kafka,
            "KafkaTopic": _read_confluent_topic,
            "KRaftController": _read_confluent_controller,
            "Zookeeper": _read_confluent_zookeeper,
        }
    reader = readers.get(kind or "")
    if reader is None:
        found.others[kind or "a document without kind"] += 1
    else:
        reader(found, resource)


def _name(resource: Node) -> str:
    return scalar(at(resource, "metadata", "name")) or "without a name"


def _config(found: _Found, node: Node | None, what: str, *, of: str = "") -> dict[str, Setting]:
    """The settings of a `config:` mapping, those that matter; the others are noted."""
    if node is None:
        return {}
    if not is_mapping(node):
        if scalar(node) is not None:
            place = place_of(found.path, node)
            found.mistakes.add(
                f"{found.path.name}:{place.line}: {what} is text; write it as a mapping, a line "
                "`key: value` for each"
            )
        return {}
    settings = []
    for key, key_node, value in pairs(node):
        setting = found.setting(key, value, of=of)
        if setting is not None:
            settings.append(setting)
        elif scalar(value) is None and not isinstance(value, type(key_node)):
            place = place_of(found.path, value)
            found.mistakes.add(
                f"{found.path.name}:{place.line}: {what}.{key} is no single value; write one"
            )
    used, unused = sorted_out(settings, found.mistakes)
    found.unused += unused
    return used


def _read_strimzi_kafka(found: _Found, resource: Node) -> None:
    found.clusters.append(_name(resource))
    kafka = at(resource, "spec", "kafka")
    if not is_mapping(kafka):
        place = place_of(found.path, resource)
        found.mistakes.add(
            f"{found.path.name}:{place.line}: kind Kafka without spec.kafka; it is no cluster"
        )
        return
    found.brokers |= _config(found, at(kafka, "config"), "spec.kafka.config")
    for key, name in ((SOFTWARE, "version"), (METADATA, "metadataVersion")):
        if setting := found.setting(key, at(kafka, name)):
            found.brokers[key] = setting
    found.replicas = found.setting("spec.kafka.replicas", at(kafka, "replicas"))
    zookeeper = at(resource, "spec", "zookeeper")
    kraft = at(resource, "metadata", "annotations", "strimzi.io/kraft")
    if setting := found.setting(ROLES, kraft):
        if setting.value == "enabled":
            found.brokers[ROLES] = setting
    elif zookeeper is not None:
        place = place_of(found.path, zookeeper)
        found.brokers[ZOOKEEPER] = Setting(ZOOKEEPER, "spec.zookeeper", found.path.name, place)


def _read_node_pool(found: _Found, resource: Node) -> None:
    replicas = found.setting("spec.replicas", at(resource, "spec", "replicas"))
    roles = {scalar(role) or "" for role in items(at(resource, "spec", "roles"))}
    if replicas is not None:
        found.pools.append((replicas, roles))
    node = at(resource, "spec", "roles")
    if "controller" in roles and node is not None:
        value = ",".join(sorted(roles))
        found.brokers.setdefault(
            ROLES, Setting(ROLES, value, found.path.name, place_of(found.path, node))
        )


def _read_strimzi_topic(found: _Found, resource: Node) -> None:
    _read_topic(found, resource, name="topicName", config="config")


def _read_confluent_topic(found: _Found, resource: Node) -> None:
    _read_topic(found, resource, name="name", config="configs")


def _read_topic(found: _Found, resource: Node, *, name: str, config: str) -> None:
    spec = at(resource, "spec")
    called = scalar(at(spec, name)) or _name(resource)
    settings = _config(found, at(spec, config), f"spec.{config}", of="the topic's own")
    replicas = at(spec, "replicas") or at(spec, "replicationFactor")
    if setting := found.setting(TOPIC_REPLICATION, replicas):
        settings[TOPIC_REPLICATION] = setting
    partitions = scalar(at(spec, "partitions")) or scalar(at(spec, "partitionCount"))
    count = int(partitions) if partitions and partitions.isdecimal() else None
    found.topics.append(Topic(name=called, settings=settings, partitions=count))


def _read_confluent_kafka(found: _Found, resource: Node) -> None:
    found.clusters.append(_name(resource))
    overrides = at(resource, "spec", "configOverrides", "server")
    settings = []
    for node in items(overrides):
        text, place = scalar(node), place_of(found.path, node)
        try:
            settings += pairs_of(found.path, text or "", first_line=place.line)
        except BadConfig as problem:
            found.mistakes.extend(problem)
    used, unused = sorted_out(settings, found.mistakes)
    found.brokers |= used
    found.unused += unused
    found.replicas = found.setting("spec.replicas", at(resource, "spec", "replicas"))
    if setting := found.setting(SOFTWARE, at(resource, "spec", "image", "application")):
        _read_image(found, setting)
    controller = at(resource, "spec", "dependencies", "kRaftController")
    zookeeper = at(resource, "spec", "dependencies", "zookeeper")
    if controller is not None:
        _has_controllers(found, controller)
    elif zookeeper is not None:
        _has_zookeeper(found, zookeeper)
    for key in ("default.replication.factor", "min.insync.replicas"):
        if key not in used:
            found.notes.append(
                f"{found.path.name} does not set {key}; Confluent for Kubernetes then chooses it "
                "by the number of brokers, and here Kafka's own default is taken: set it"
            )


def _read_image(found: _Found, setting: Setting) -> None:
    """`confluentinc/cp-server:7.6.0` has Kafka 3.6."""
    matched = _IMAGE_TAG.search(setting.value)
    if matched is None:
        return
    platform, minor = int(matched[1]), int(matched[2])
    if platform >= _CONFLUENT_FIRST_IN_STEP:
        major, first = platform - 4, 0
    else:
        major, first = _BEFORE_CONFLUENT_7.get(platform, (0, 0))
    if major:
        release = Setting(SOFTWARE, f"{major}.{first + minor}", setting.source, setting.place)
        found.brokers[SOFTWARE] = release
        found.notes.append(
            f"Confluent Platform {platform}.{minor} ({setting.origin}) has Kafka {release.value}."
        )


def _read_confluent_controller(found: _Found, resource: Node) -> None:
    _has_controllers(found, resource)


def _read_confluent_zookeeper(found: _Found, resource: Node) -> None:
    _has_zookeeper(found, resource)


def _has_controllers(found: _Found, node: Node) -> None:
    place = place_of(found.path, node)
    found.brokers.setdefault(ROLES, Setting(ROLES, "broker", found.path.name, place))


def _has_zookeeper(found: _Found, node: Node) -> None:
    place = place_of(found.path, node)
    found.brokers.setdefault(ZOOKEEPER, Setting(ZOOKEEPER, "zookeeper", found.path.name, place))


def _deployment(found: _Found) -> Deployment:
    if found.others:
        count = sum(found.others.values())
        kinds = ", ".join(sorted(found.others))
        others = counted(count, "other resource")
        found.notes.append(f"{found.path.name}: {others} left out ({kinds}).")
    return Deployment(
        brokers=found.brokers,
        topics=tuple(found.topics),
        broker_count=_brokers(found),
        unused=tuple(dict.fromkeys(found.unused)),
        notes=tuple(found.notes),
        sources=(found.path.name,),
        clusters=tuple(found.clusters),
    )


def _brokers(found: _Found) -> Setting | None:
    """How many brokers there are: those of the pools, or else of the resource itself."""
    pools = [replicas for replicas, roles in found.pools if "broker" in roles or not roles]
    if not pools:
        return found.replicas
    if not all(replicas.value.isdecimal() for replicas in pools):
        return None
    total = sum(int(replicas.value) for replicas in pools)
    first = pools[0]
    return Setting("brokers", str(total), first.source, first.place)
