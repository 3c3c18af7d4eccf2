"""Environment variables that images of Kafka turn into settings, and env files with them.

KAFKA_MIN_INSYNC_REPLICAS is min.insync.replicas, `__` is a dash and `___` an underscore
(apache/kafka, confluentinc/cp-kafka). Bitnami's image reads only those with the prefix KAFKA_CFG_.

Terraform's aws_msk_configuration as well, as far as its settings are a text in the file itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from waterline.checker.kafka.deployed.collection import Collection
from waterline.checker.kafka.deployed.deployment import Setting
from waterline.checker.kafka.deployed.keys import (
    ACKS,
    BOTH,
    IDENTITY,
    MIN_INSYNC,
    REPLICATION,
    ROLES,
    SOFTWARE,
    TOPIC_REPLICATION,
    UNCLEAN,
    ZOOKEEPER,
)
from waterline.checker.kafka.deployed.properties_file import (
    BROKERS_OWN,
    settings_of,
    sorted_out,
    without_repeated,
)
from waterline.checker.kafka.deployed.text_file import CONFIG_BYTES_MAX, File

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


_BLOCK = re.compile(
    r"^[ \t]*server_properties[ \t]*=[ \t]*<<[-~]?(\w+)[ \t]*\n(.*?)^[ \t]*\1[ \t]*$",
    re.MULTILINE | re.DOTALL,
)
_RELEASES = tuple(
    re.compile(rf"^[ \t]*{name}[ \t]*=[ \t]*(\[[^\]]*\]|.+)$", re.MULTILINE)
    for name in ("kafka_version", "kafka_versions")
)
"""Release that a cluster runs, or else that its configuration is for."""


def is_of_msk(file: File) -> bool:
    """True if it has the settings of brokers as text between `<<` and its end."""
    return len(file.text) <= CONFIG_BYTES_MAX and _BLOCK.search(file.text) is not None


def read_terraform(file: File, into: Collection) -> None:
    """The settings, and the release, if a single one is written out."""
    for block in _BLOCK.finditer(file.text):
        first = file.text.count("\n", 0, block.start(2)) + 1
        settings = settings_of(file, block[2], into.mistakes, first_line=first)
        found = sorted_out(without_repeated(settings, into), into)
        if silent := [key for key in (REPLICATION, MIN_INSYNC, UNCLEAN) if key not in found]:
            into.note(
                f"{file.name} does not set {', '.join(silent)}: Kafka's defaults are taken, and "
                "MSK has its own, as unclean elections on."
            )
        into.add_broker(found.values())
    for pattern in _RELEASES:
        if written := pattern.search(file.text):
            into.add_broker(_release(file, written))
            return


def _release(file: File, written: re.Match[str]) -> list[Setting]:
    releases = re.findall(r'"([\d.x]+(?:\.kraft)?)"', written[1])
    if len(releases) != 1:
        return []
    place = file.place(file.text.count("\n", 0, written.start()) + 1)
    number = releases[0].removesuffix(".kraft")
    roles = [Setting(ROLES, BOTH, file.name, place)] if number != releases[0] else []
    return [Setting(SOFTWARE, number, file.name, place), *roles]
