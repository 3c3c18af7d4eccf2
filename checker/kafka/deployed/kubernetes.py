"""Resources of Kubernetes: Kafka's custom ones, and containers and settings of brokers.

Strimzi: Kafka, KafkaNodePool and KafkaTopic of kafka.strimzi.io, v1 and v1beta2. Confluent: Kafka
and KafkaTopic of platform.confluent.io. Containers are those of Docker Compose as well.

Documents that do not mention Kafka are not parsed, so files with large other documents can be read.
Other resources, as Helm renders them, are counted and ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ruamel.yaml.nodes import Node

from waterline.checker.kafka.deployed.collection import Collection, Pool
from waterline.checker.kafka.deployed.deployment import BadConfig, Setting, Topic
from waterline.checker.kafka.deployed.environment import as_settings
from waterline.checker.kafka.deployed.keys import (
    BOTH,
    IDENTITY,
    METADATA,
    MIN_INSYNC,
    REPLICATION,
    ROLES,
    SOFTWARE,
    TOPIC_REPLICATION,
    ZOOKEEPER,
)
from waterline.checker.kafka.deployed.properties_file import (
    BROKERS_OWN,
    is_brokers,
    keys_of,
    settings_of,
    sorted_out,
    without_repeated,
)
from waterline.checker.kafka.deployed.release_text import (
    is_broker_image,
    release_of_image,
    release_written,
)
from waterline.checker.kafka.deployed.text_file import File
from waterline.checker.kafka.deployed.yaml_nodes import (
    at,
    is_mapping,
    items,
    line_of,
    pairs,
    parts,
    place_of,
    root_of,
    scalar,
    text_at,
)
from waterline.checker.problem.wording import quantity

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


_IDENTITY = IDENTITY | {ZOOKEEPER}
_OVERRIDE = re.compile(r"--override\s+([\w.]+)=(\S+)")


def read_compose(file: File, into: Collection, root: Node) -> int:
    """Read the brokers that Docker Compose runs; return the number of services."""
    count = 0
    for name, _, service in pairs(at(root, "services")):
        scale = at(service, "deploy", "replicas") or at(service, "scale")
        count += _read_container(
            file, into, service, f"the service {name}", environment="environment", scale=scale
        )
    return count


def read_workload(file: File, into: Collection, resource: Node) -> int:
    """Read the brokers of a StatefulSet, Deployment or Pod; return the number of containers."""
    spec = at(resource, "spec", "template", "spec") or at(resource, "spec")
    scale = at(resource, "spec", "replicas")
    return sum(
        _read_container(file, into, container, name_of(resource), environment="env", scale=scale)
        for container in items(at(spec, "containers"))
    )


def _read_container(
    file: File, into: Collection, node: Node, what: str, *, environment: str, scale: Node | None
) -> bool:
    variables = list(_variables(file, at(node, environment)))
    overrides = list(_overrides(file, node))
    settings = as_settings(variables) + overrides
    keys = {setting.key for setting in settings}
    image = at(node, "image")
    has_command = at(node, "command") is not None or at(node, "entrypoint") is not None
    is_image = is_broker_image(scalar(image) or "")
    is_usual = is_image and not has_command
    if not (is_usual or overrides) and _IDENTITY.isdisjoint(keys):
        return False
    found = sorted_out(without_repeated(settings, into), into)
    if image is not None and is_image and "apache/kafka" in str(image.value):
        # That image has KRaft alone, and is both where nothing is said.
        usual = Setting(ROLES, BOTH, file.name, place_of(file, image))
        into.fallbacks.setdefault(ROLES, usual)
    if said := image_release(file, into, image):
        found[SOFTWARE] = said
    for key in ("env_file", "extends"):
        if (elsewhere := at(node, key)) is not None:
            into.mistakes.add(
                f"{file.name}:{place_of(file, elsewhere).line}: {what} takes settings by {key}, "
                "which is not followed; give what `docker compose config` prints"
            )
    for source in items(at(node, "envFrom")):
        if name := text_at(source, "configMapRef", "name"):
            into.wanted_maps.append((name, f"{file.name}:{place_of(file, source).line}"))
    roles = found.get(ROLES)
    if roles is None or "broker" in roles.value:
        one = Setting("brokers", "1", file.name, place_of(file, node))
        into.servers.append(setting_at(file, "brokers", scale) or one)
    if keys and at(node, "envFrom") is None:
        into.add_server(found.values(), what)
    else:
        into.add_broker(found.values())
    return True


def _variables(file: File, node: Node | None) -> Iterator[Setting]:
    """Variables as a mapping, as a list of NAME=value, or as a list of name and value."""
    for key, _, value in pairs(node):
        yield setting_at(file, key, value) or Setting(key, "", file.name, place_of(file, value))
    for item in items(node):
        place = place_of(file, item)
        if is_mapping(item):
            name = text_at(item, "name")
            text = "${valueFrom}" if at(item, "valueFrom") is not None else ""
            said = setting_at(file, name, at(item, "value"))
            yield said or Setting(name, text, file.name, place)
        else:
            name, equals, text = (scalar(item) or "").partition("=")
            yield Setting(name, text if equals else f"${{{name}}}", file.name, place)


def _overrides(file: File, node: Node) -> Iterator[Setting]:
    """Settings that a command has as `--override key=value`."""
    for part in ("command", "args"):
        given = at(node, part)
        nodes = items(given) or ([given] if given is not None else [])
        place = place_of(file, nodes[0]) if nodes else None
        for matched in _OVERRIDE.finditer(" ".join(scalar(each) or "" for each in nodes)):
            yield Setting(matched[1], matched[2].strip("\"'"), file.name, place)


def read_config_map(file: File, into: Collection, resource: Node) -> int:
    """A broker's .properties, or an image's environment, in a ConfigMap; how many there are."""
    into.maps.add(text_at(resource, "metadata", "name"))
    data = at(resource, "data")
    variables = as_settings(list(_variables(file, data)))
    is_env = any(setting.key in BROKERS_OWN for setting in variables)
    found = [variables] if is_env else []
    for name, _, value in pairs(data):
        if not re.search(r"\.(properties|config|conf)$", name):
            continue
        text = scalar(value) or ""
        if is_brokers(keys_of(text)):
            found.append(settings_of(file, text, into.mistakes, first_line=line_of(value)))
    for settings in found:
        into.add_broker(sorted_out(without_repeated(settings, into), into).values())
    return len(found)


MENTIONS_KAFKA = re.compile(
    r"kafka\.strimzi\.io/|platform\.confluent\.io/|\bKAFKA_|\.properties\b|server\.config|"
    r"--override|/(?:cp-)?(?:kafka|server)[\w-]*:"
)
_KIND = re.compile(r"""^["']?kind["']?\s*:\s*["']?(\w+)""", re.MULTILINE)
_WORKLOADS = ("StatefulSet", "Deployment", "DaemonSet", "ReplicaSet", "Pod")


def read_kubernetes(file: File, into: Collection, *, is_named: bool) -> bool:
    """Read the file's documents; return False if none describes Kafka.

    A file that `is_named` must describe a cluster or its topics; otherwise it is a mistake.
    """
    others: Counter[str] = Counter()
    count = 0
    for line, text in parts(file.text):
        if not MENTIONS_KAFKA.search(text):
            others.update(kind.group(1) for kind in _KIND.finditer(text))
            continue
        try:
            root = root_of(file, line, text, into.mistakes)
            for resource in _resources(root):
                if found := _read_resource(file, into, resource):
                    count += found
                else:
                    others[text_at(resource, "kind") or "a document without kind"] += 1
        except BadConfig as problem:
            into.mistakes.extend(problem)
            return True
    if count:
        into.sources.append(file.name)
        if others:
            into.note(
                f"{file.name}: {quantity(sum(others.values()), 'other resource')} left out "
                f"({', '.join(sorted(others))})."
            )
    elif is_named:
        kinds = ", ".join(sorted(others)) or "none"
        into.mistakes.add(
            f"{file.path} has no Kafka, KafkaNodePool or KafkaTopic of Strimzi or Confluent, and "
            f"no container or ConfigMap of a broker; kinds found: {kinds}"
        )
    return bool(count)


def read_compose_file(file: File, into: Collection, *, is_named: bool) -> bool:
    """Read the services of Docker Compose; return False if none is a broker."""
    try:
        count = sum(
            read_compose(file, into, root)
            for line, text in parts(file.text)
            if MENTIONS_KAFKA.search(text)
            and (root := root_of(file, line, text, into.mistakes)) is not None
        )
    except BadConfig as problem:
        into.mistakes.extend(problem)
        return True
    if count:
        into.sources.append(file.name)
    elif is_named:
        into.mistakes.add(f"{file.path} has no service that is a broker of Kafka")
    return bool(count)


def _resources(root: Node | None) -> Iterator[Node]:
    """The resources of a document: itself, or the items of a List, as kubectl prints them."""
    if root is None:
        return
    if (scalar(at(root, "kind")) or "").endswith("List"):
        yield from items(at(root, "items"))
    else:
        yield root


def _read_resource(file: File, into: Collection, resource: Node) -> int:
    """Read one; returns how much of it there was."""
    kind, group = text_at(resource, "kind"), text_at(resource, "apiVersion")
    for who, pattern in GROUPS.items():
        reader = READERS.get((who, kind))
        if reader is not None and pattern.fullmatch(group):
            into.see(kind, name_of(resource), f"{file.name}:{place_of(file, resource).line}")
            reader(file, into, resource)
            return 1
    if kind in _WORKLOADS:
        return read_workload(file, into, resource)
    if kind == "ConfigMap":
        return read_config_map(file, into, resource)
    return 0
