"""Kubernetes custom resources of Kafka: Strimzi's, and those of Confluent for Kubernetes.

Strimzi: Kafka, KafkaNodePool and KafkaTopic of kafka.strimzi.io, v1 and v1beta2. Confluent: Kafka
and KafkaTopic of platform.confluent.io.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from ruamel.yaml.nodes import Node

from waterline.checker.kafka.deployed.collection import Collection, Pool
from waterline.checker.kafka.deployed.deployment import Topic
from waterline.checker.kafka.deployed.keys import (
    BOTH,
    METADATA,
    MIN_INSYNC,
    REPLICATION,
    ROLES,
    SOFTWARE,
    TOPIC_REPLICATION,
    ZOOKEEPER,
)
from waterline.checker.kafka.deployed.properties_file import (
    settings_of,
    sorted_out,
    without_repeated,
)
from waterline.checker.kafka.deployed.release_text import release_of_image, release_written
from waterline.checker.kafka.deployed.setting import Setting
from waterline.checker.kafka.deployed.text_file import File
from waterline.checker.kafka.deployed.yaml_nodes import (
    at,
    is_mapping,
    items,
    line_of,
    pairs,
    place_of,
    scalar,
    text_at,
)

GROUPS = {
    "Strimzi": re.compile(r"kafka\.strimzi\.io/(v1|v1beta2|v1beta1|v1alpha1)"),
    "Confluent": re.compile(r"platform\.confluent\.io/\w+"),
}


def setting_at(file: File, key: str, node: Node | None, *, of: str = "") -> Setting | None:
    """The scalar of a node as a setting, with its place."""
    value = scalar(node)
    if value is None or node is None:
        return None
    source = f"{of}, {file.name}" if of else file.name
    return Setting(key, value.strip(), source, place_of(file, node))


def name_of(resource: Node) -> str:
    """Return the name of a resource, with its namespace if it has one."""
    name = text_at(resource, "metadata", "name") or "without a name"
    return "/".join(filter(None, (text_at(resource, "metadata", "namespace"), name)))


def _short_name(resource: Node) -> str:
    return name_of(resource).rpartition("/")[2]


def _config(
    file: File, into: Collection, node: Node | None, what: str, *, of: str = ""
) -> dict[str, Setting]:
    """The settings of a `config:` mapping, those that matter; the others are noted."""
    if node is None:
        return {}
    if not is_mapping(node):
        if scalar(node) is not None:
            into.mistakes.add(
                f"{file.name}:{place_of(file, node).line}: {what} is text; write it as a mapping, "
                "a line `key: value` for each"
            )
        return {}
    settings = []
    for key, _, value in pairs(node):
        setting = setting_at(file, key, value, of=of)
        if setting is not None:
            settings.append(setting)
        elif is_mapping(value) or items(value):
            into.mistakes.add(
                f"{file.name}:{place_of(file, value).line}: {what}.{key} is no single value; "
                "write one"
            )
    return sorted_out(settings, into)


def _read_strimzi_kafka(file: File, into: Collection, resource: Node) -> None:
    into.clusters[_short_name(resource)] = None
    kafka = at(resource, "spec", "kafka")
    if kafka is None or not is_mapping(kafka):
        line = place_of(file, resource).line
        into.mistakes.add(f"{file.name}:{line}: kind Kafka without spec.kafka; it is no cluster")
        return
    found = _config(file, into, at(kafka, "config"), "spec.kafka.config")
    for key, name in ((SOFTWARE, "version"), (METADATA, "metadataVersion")):
        if setting := setting_at(file, key, at(kafka, name)):
            found[key] = setting
    into.replicas = setting_at(file, "spec.kafka.replicas", at(kafka, "replicas"))
    zookeeper = at(resource, "spec", "zookeeper")
    kraft = at(resource, "metadata", "annotations", "strimzi.io/kraft")
    if zookeeper is None or scalar(kraft) == "enabled":
        node = kraft or kafka
        found[ROLES] = Setting(ROLES, BOTH, file.name, place_of(file, node))
    else:
        place = place_of(file, zookeeper)
        found[ZOOKEEPER] = Setting(ZOOKEEPER, "spec.zookeeper", file.name, place)
        if kraft is not None and scalar(kraft) != "disabled":
            into.note(
                f"strimzi.io/kraft is {scalar(kraft)} ({file.name}:{place_of(file, kraft).line}): "
                "between ZooKeeper and KRaft; ZooKeeper is taken."
            )
    into.add_broker(found.values())


def _read_node_pool(file: File, into: Collection, resource: Node) -> None:
    replicas = setting_at(file, "spec.replicas", at(resource, "spec", "replicas"))
    node = at(resource, "spec", "roles")
    roles = {scalar(role) or "" for role in items(node)}
    if replicas is not None:
        cluster = text_at(resource, "metadata", "labels", "strimzi.io/cluster") or None
        into.pools.append(Pool(replicas, not roles or "broker" in roles, cluster))
    if "controller" in roles and node is not None:
        value = ",".join(sorted(roles))
        into.fallbacks.setdefault(ROLES, Setting(ROLES, value, file.name, place_of(file, node)))


def _read_strimzi_topic(file: File, into: Collection, resource: Node) -> None:
    label = text_at(resource, "metadata", "labels", "strimzi.io/cluster")
    _read_topic(file, into, resource, name="topicName", config="config", label=label)


def _read_confluent_topic(file: File, into: Collection, resource: Node) -> None:
    label = text_at(resource, "spec", "kafkaClusterRef", "name")
    _read_topic(file, into, resource, name="name", config="configs", label=label)


def _read_topic(
    file: File, into: Collection, resource: Node, *, name: str, config: str, label: str
) -> None:
    spec = at(resource, "spec")
    called = text_at(spec, name) or _short_name(resource)
    origin = f"{file.name}:{place_of(file, resource).line}"
    into.see("KafkaTopic for the topic", f"{called} of {label}" if label else called, origin)
    settings = _config(file, into, at(spec, config), f"spec.{config}", of="the topic's own")
    replicas = at(spec, "replicas") or at(spec, "replicationFactor")
    if setting := setting_at(file, TOPIC_REPLICATION, replicas):
        settings[TOPIC_REPLICATION] = setting
    topic = Topic(name=called, settings=settings)
    into.topics.append((topic, label or None))


def _read_confluent_kafka(file: File, into: Collection, resource: Node) -> None:
    into.clusters[_short_name(resource)] = None
    settings = []
    for node in items(at(resource, "spec", "configOverrides", "server")):
        settings += settings_of(file, scalar(node) or "", into.mistakes, first_line=line_of(node))
    found = sorted_out(without_repeated(settings, into), into)
    into.replicas = setting_at(file, "spec.replicas", at(resource, "spec", "replicas"))
    if release := image_release(file, into, at(resource, "spec", "image", "application")):
        found[SOFTWARE] = release
    for key, name in ((ROLES, "kRaftController"), (ZOOKEEPER, "zookeeper")):
        dependency = at(resource, "spec", "dependencies", name)
        if dependency is not None:
            found[key] = Setting(key, "broker", file.name, place_of(file, dependency))
            break
    for key in (REPLICATION, MIN_INSYNC):
        if key not in found:
            into.note(
                f"{file.name} does not set {key}; Confluent for Kubernetes then chooses it by the "
                "number of brokers, and here Kafka's own default is taken: set it."
            )
    into.add_broker(found.values())


def image_release(file: File, into: Collection, node: Node | None) -> Setting | None:
    """The release that the tag of an image says; that it says none is noted."""
    setting = setting_at(file, SOFTWARE, node)
    if setting is None:
        return None
    written = release_of_image(setting.value)
    number = release_written(written or "")
    if written is None or number is None:
        into.note(f"The image {setting.value} does not say Kafka's release.")
        return None
    if written.startswith("cp-"):
        into.note(f"Confluent Platform {written[3:]} has Kafka {number}.")
    return replace(setting, value=number)


def _read_confluent_controller(file: File, into: Collection, resource: Node) -> None:
    setting = Setting(ROLES, "broker", file.name, place_of(file, resource))
    into.fallbacks.setdefault(ROLES, setting)


def _read_confluent_zookeeper(file: File, into: Collection, resource: Node) -> None:
    setting = Setting(ZOOKEEPER, "zookeeper", file.name, place_of(file, resource))
    into.fallbacks.setdefault(ZOOKEEPER, setting)


Reader = Callable[[File, Collection, Node], None]
READERS: Mapping[tuple[str, str], Reader] = {
    ("Strimzi", "Kafka"): _read_strimzi_kafka,
    ("Strimzi", "KafkaNodePool"): _read_node_pool,
    ("Strimzi", "KafkaTopic"): _read_strimzi_topic,
    ("Confluent", "Kafka"): _read_confluent_kafka,
    ("Confluent", "KafkaTopic"): _read_confluent_topic,
    ("Confluent", "KRaftController"): _read_confluent_controller,
    ("Confluent", "Zookeeper"): _read_confluent_zookeeper,
}
