"""Resources of Kubernetes: Kafka's custom ones, and containers and settings of brokers.

Documents that do not mention Kafka are not parsed, so files with large other documents can be read.
Other resources, as Helm renders them, are counted and ignored.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ruamel.yaml.nodes import Node

from waterline.checker.kafka.deployed.collection import Collection
from waterline.checker.kafka.deployed.custom_resources import (
    GROUPS,
    READERS,
    image_release,
    name_of,
    setting_at,
)
from waterline.checker.kafka.deployed.environment import as_settings
from waterline.checker.kafka.deployed.keys import BOTH, IDENTITY, ROLES, SOFTWARE, ZOOKEEPER
from waterline.checker.kafka.deployed.properties_file import (
    BROKERS_OWN,
    is_brokers,
    keys_of,
    settings_of,
    sorted_out,
    without_repeated,
)
from waterline.checker.kafka.deployed.release_text import is_broker_image
from waterline.checker.kafka.deployed.setting import BadConfig, Setting
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
