"""`.properties` files, and text of them inside other files, with the line of each key.

The format is that of java.util.Properties, values trimmed; of a key that occurs twice the last
counts, as in Kafka.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection as Names
from collections.abc import Iterable, Mapping
from dataclasses import replace

import javaproperties

from waterline.checker.kafka.deployed.collection import Collection
from waterline.checker.kafka.deployed.deployment import Mistakes, Setting
from waterline.checker.kafka.deployed.keys import (
    ACKS,
    IDENTITY,
    KEYS,
    MIGRATION,
    NOT_MODELLED,
    RACK,
    REPLICATION,
    TOPIC_REPLICATION,
    meant_instead,
    unit_remedy,
)
from waterline.checker.kafka.deployed.text_file import CONFIG_BYTES_MAX, File

_SHAPE = re.compile(
    r"\s*(?:[\w$*/>-]|\\.)*(?:\s*[=:].*|\s*|(?:\.(?:[\w$*/>-]|\\.)*)+(?:\s*[=:]?.*))", re.DOTALL
)
"""A key, and with `=` or `:` its value; Java takes a blank as well, here after a key with dots."""
_KEY = re.compile(r"^[ \t]*([\w$*/>.-]+(?=[ \t]*[=:])|[\w-]+\.[\w.-]+)", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\$\{|\$\(|\{\{|\{%|<%|^\$\w|^@[\w.]+@$")
_PROGRAMS: Mapping[str, str] = {
    "MirrorMaker": r"clusters|.*->.*\.enabled",
    "a connector": r"connector\.class",
    "Kafka Connect": r"key\.converter|(offset|config|status)\.storage\..*|plugin\.path",
    "ZooKeeper": r"dataDir|clientPort",
    "log4j": r"log4j\..*|rootLogger(\..*)?|appenders?(\..*)?",
    "the Schema Registry": r"kafkastore\..*",
    "ksqlDB": r"ksql\..*",
    "Cruise Control": r"(default\.|hard\.)?goals|metric\.sampler\.class",
    "an application": r"spring\..*|quarkus\..*|mp\.messaging\..*",
}
"""Other programs that have .properties, and keys that only they have."""
BROKERS_OWN = frozenset({*KEYS, *IDENTITY} - {ACKS, TOPIC_REPLICATION})
"""Keys that only brokers have, and those of topics that matter here."""
_OF_BROKERS = re.compile(
    r"(?:num\.(?:network|io|recovery|replica|partitions)|auto\.(?:create\.topics|leader)|"
    r"log\.(?:retention|segment|flush|clean|roll|message|index)|delete\.topic|offsets\.topic|"
    r"transaction\.state|replica\.(?:lag|fetch|socket|high)|socket\.(?:send|receive|request)|controlled\.shutdown)"
)
"""Beginnings of keys that only brokers have."""
_OF_CLIENTS = ("bootstrap.servers", "metadata.broker.list", "group.id")


def settings_of(file: File, text: str, mistakes: Mistakes, *, first_line: int = 1) -> list[Setting]:
    """Return every key with its value, in the order of the text. Other lines are mistakes."""
    found = []
    line = first_line
    try:
        for element in javaproperties.parse(text):
            if isinstance(element, javaproperties.KeyValue):
                if not _SHAPE.fullmatch(element.source.rstrip("\n")):
                    said = "a template's, to be rendered first" if "{" in element.source else "none"
                    mistakes.add(
                        f"{file.name}:{line}: a line {element.source.strip()[:40]!r} is {said} of "
                        "a .properties file; give that file alone, lines of key=value"
                    )
                place = file.place(line)
                found.append(Setting(element.key, element.value.strip(), file.name, place))
            line += element.source.count("\n")
    except ValueError as problem:
        mistakes.add(f"{file.name}:{line} is no .properties file: {problem}")
    return found


@functools.lru_cache(maxsize=4)
def keys_of(text: str) -> frozenset[str]:
    """The keys of a text that is of such lines; none where it is too large for that."""
    return frozenset(_KEY.findall(text)) if len(text) <= CONFIG_BYTES_MAX else frozenset()


def program_of(keys: Names[str]) -> str:
    """Return the program that the .properties file configures; empty for a broker."""
    if not IDENTITY.isdisjoint(keys):
        return ""
    return next(
        (n for n, own in _PROGRAMS.items() if any(re.fullmatch(own, key) for key in keys)), ""
    )


def is_clients(keys: Names[str]) -> bool:
    """True if they are of a producer, a consumer or another client."""
    return IDENTITY.isdisjoint(keys) and any(key in keys for key in _OF_CLIENTS)


def is_brokers(keys: Names[str]) -> bool:
    """True if a key is there that only brokers have, or that matters here."""
    if program_of(keys) or is_clients(keys):
        return False
    return any(
        key in BROKERS_OWN or _OF_BROKERS.match(key) or meant_instead(key) in BROKERS_OWN
        for key in keys
    )


def without_repeated(settings: Iterable[Setting], into: Collection) -> list[Setting]:
    """Keep the last of each repeated key, and note that there are others."""
    last: dict[str, Setting] = {}
    for setting in settings:
        before = last.get(setting.key)
        if before is not None and before.value != setting.value and setting.key in KEYS:
            into.note(
                f"{setting.key} stands twice, {before.value} at {before.origin} and "
                f"{setting.value} at {setting.origin}: the last counts, as in Kafka."
            )
        last[setting.key] = setting
    return list(last.values())


def sorted_out(settings: Iterable[Setting], into: Collection) -> dict[str, Setting]:
    """The settings that the model depends on, by key; those that are not modelled are noted.

    A key that is nearly one of the first, and a value with a unit, is a mistake. What is further
    wrong with them is found as well, so they stay, by the key that was meant.
    """
    used: dict[str, Setting] = {}
    for setting in settings:
        meant = meant_instead(setting.key)
        if meant is None and setting.key in KEYS and _PLACEHOLDER.search(setting.value):
            into.mistakes.add(
                setting.mistake(
                    "that is a placeholder; give the file as it is with its values filled in, from "
                    "`helm template`, `docker compose config` or the like"
                )
            )
        elif meant:
            into.mistakes.add(
                f"{setting.origin}: {setting.key} is no key of Kafka's, which ignores it; "
                f"did you mean {meant}?"
            )
            used.setdefault(meant, replace(setting, key=meant))
        elif remedy := unit_remedy(setting.key, setting.value):
            into.mistakes.add(setting.mistake(remedy))
            used.setdefault(setting.key, setting)
        elif setting.key in KEYS:
            used[setting.key] = setting
        elif setting.key == RACK and not _PLACEHOLDER.search(setting.value):
            into.racks[setting.origin] = setting.value
        elif setting.key in NOT_MODELLED:
            into.add_unused([setting])
        elif setting.key == MIGRATION and setting.value.lower() == "true":
            into.note(f"{setting.origin}: {MIGRATION}: brokers leave ZooKeeper for KRaft just now.")
    return used


def read_properties(file: File, into: Collection) -> None:
    """Read a server's .properties file as the settings of all brokers."""
    settings = settings_of(file, file.text, into.mistakes)
    if file.mark == "utf-16":
        into.mistakes.add(f"{file.name}:1: UTF-16, which Kafka does not read; save it as UTF-8")
    elif file.mark is not None and settings and settings[0].place == file.place(1):
        into.mistakes.add(
            f"{file.name}:1: a byte order mark is before {settings[0].key}, which Kafka then does "
            "not know; save it as plain UTF-8"
        )
    found = sorted_out(without_repeated(settings, into), into)
    if TOPIC_REPLICATION in found and not IDENTITY.isdisjoint(each.key for each in settings):
        into.mistakes.add(
            f"{found[TOPIC_REPLICATION].origin}: {TOPIC_REPLICATION} is no key of brokers, which "
            f"ignore it; did you mean {REPLICATION}?"
        )
    into.add_server(found.values(), file.name)


def read_client(file: File, into: Collection, *, is_named: bool) -> None:
    """Read acks from a producer's file; it counts only if the user named the file itself."""
    settings = without_repeated(settings_of(file, file.text, into.mistakes), into)
    for setting in settings:
        if setting.key == ACKS and is_named:
            into.acks = setting
        elif setting.key == ACKS and setting.value not in ("all", "-1"):
            into.note(f"{setting.origin} has acks={setting.value}, and was not used: --acks asks.")
