"""`.properties` files, and text of them inside other files, with the line of each key.

The format is that of java.util.Properties in ISO 8859-1, values trimmed; of a key that occurs twice
the last counts, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import javaproperties

from checker.kafka.deployed.deployment import Deployment
from checker.kafka.deployed.keys import KEYS, NOT_MODELLED, meant_instead, unit_remedy
from checker.kafka.deployed.setting import BadConfig, Mistakes, Place, Setting


def pairs_of(path: Path, text: str, *, first_line: int = 1) -> list[Setting]:
    """Every key with its value, in the order of the file. Raises `BadConfig`."""
    found = []
    line = first_line
    try:
        for element in javaproperties.parse(text):
            if isinstance(element, javaproperties.KeyValue):
                place = Place(str(path), line)
                found.append(Setting(element.key, element.value.strip(), path.name, place))
            line += element.source.count("\n")
    except ValueError as problem:
        raise BadConfig(f"{path}:{line} is no .properties file: {problem}") from None
    return found


def sorted_out(
    settings: Iterable[Setting], mistakes: Mistakes
) -> tuple[dict[str, Setting], tuple[Setting, ...]]:
    """The settings that the model depends on by key, and those that are read and not used.

    A key that is nearly one of the first, and a value with a unit, is a mistake. What is further
    wrong with them is found as well, so they stay, by the key that was meant.
    """
    used: dict[str, Setting] = {}
    unused: dict[str, Setting] = {}
    for setting in settings:
        if meant := meant_instead(setting.key):
            mistakes.add(
                f"{setting.origin}: {setting.key} is no key of Kafka's, which ignores it; "
                f"did you mean {meant}?"
            )
            used.setdefault(meant, replace(setting, key=meant))
        elif remedy := unit_remedy(setting.key, setting.value):
            mistakes.add(setting.mistake(remedy))
            used.setdefault(setting.key, setting)
        elif setting.key in KEYS:
            used[setting.key] = setting
        elif setting.key in NOT_MODELLED:
            unused[setting.key] = setting
    return used, tuple(unused.values())


def read_properties(path: Path, text: str, mistakes: Mistakes) -> Deployment:
    """What a server's .properties file says of its broker, taken to be that of all."""
    try:
        settings = pairs_of(path, text)
    except BadConfig as problem:
        mistakes.extend(problem)
        return Deployment()
    used, unused = sorted_out(settings, mistakes)
    return Deployment(brokers=used, unused=unused, sources=(path.name,))
