"""Environment variables that images of Kafka turn into settings, and env files with them.

KAFKA_MIN_INSYNC_REPLICAS is min.insync.replicas, `__` is a dash and `___` an underscore
(apache/kafka, confluentinc/cp-kafka). Bitnami's image reads only those with the prefix KAFKA_CFG_.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from waterline.checker.kafka.deployed.collection import Collection
from waterline.checker.kafka.deployed.keys import ACKS, IDENTITY, TOPIC_REPLICATION, ZOOKEEPER
from waterline.checker.kafka.deployed.properties_file import (
    BROKERS_OWN,
    sorted_out,
    without_repeated,
)
from waterline.checker.kafka.deployed.setting import Setting
from waterline.checker.kafka.deployed.text_file import File

PREFIX = "KAFKA_"
_BITNAMIS = "KAFKA_CFG_"
_LINE = re.compile(r"\s*(?:#.*)?|\s*(?:export\s+)?[A-Za-z_]\w*\s*=.*")
_VARIABLE = re.compile(r"\s*(?:export\s+)?(KAFKA_\w+)\s*=(.*)")
_PLAIN = IDENTITY | {ZOOKEEPER}
"""Settings that Bitnami's image also reads from the plain variable."""
_SEPARATORS = {1: ".", 2: "-", 3: "_"}


def is_environment(file: File) -> bool:
    """True if each line is NAME=value, and some are what an image makes a broker's settings of."""
    lines = file.beginning(500)
    if not all(map(_LINE.fullmatch, lines)) or not any(map(_VARIABLE.fullmatch, lines)):
        return False
    return any(each.key in BROKERS_OWN for each in as_settings(list(variables_of(file))))


def variables_of(file: File) -> Iterator[Setting]:
    """Each variable of an env file that images of Kafka take, without quotes around its value."""
    for number, line in enumerate(file.lines(), start=1):
        if matched := _VARIABLE.fullmatch(line):
            value = matched[2].strip()
            if value[:1] in ("'", '"') and value.endswith(value[0]) and len(value) > 1:
                value = value[1:-1]
            yield Setting(matched[1], value, file.name, file.place(number))


def as_settings(variables: list[Setting]) -> list[Setting]:
    """The settings of brokers that an image makes of them."""
    is_bitnamis = any(each.key.startswith(_BITNAMIS) for each in variables)
    of_brokers = []
    for each in variables:
        if each.key.startswith(PREFIX):
            name = each.key.removeprefix(_BITNAMIS).removeprefix(PREFIX).lower()
            key = re.sub("_{1,3}", lambda bar: _SEPARATORS[len(bar[0])], name)
            is_taken = not is_bitnamis or each.key.startswith(_BITNAMIS) or key in _PLAIN
            if is_taken and key not in (ACKS, TOPIC_REPLICATION):
                of_brokers.append(replace(each, key=key))
    return of_brokers


def read_environment(file: File, into: Collection) -> None:
    """Read a broker's settings from an env file."""
    settings = as_settings(list(variables_of(file)))
    into.add_server(sorted_out(without_repeated(settings, into), into).values(), file.name)
