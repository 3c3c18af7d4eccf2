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
from waterline.checker.kafka.deployed.containers import read_compose, read_config_map, read_workload
from waterline.checker.kafka.deployed.custom_resources import GROUPS, READERS, name_of
from waterline.checker.kafka.deployed.setting import BadConfig
from waterline.checker.kafka.deployed.text_file import File
from waterline.checker.kafka.deployed.yaml_nodes import (
    at,
    items,
    parts,
    place_of,
    root_of,
    scalar,
    text_at,
)
from waterline.checker.problem.wording import quantity

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
