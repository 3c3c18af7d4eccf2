"""Terraform's aws_msk_configuration, as far as its settings are a text in the file itself."""

from __future__ import annotations

import re

from waterline.checker.kafka.deployed.collection import Collection
from waterline.checker.kafka.deployed.keys import (
    BOTH,
    MIN_INSYNC,
    REPLICATION,
    ROLES,
    SOFTWARE,
    UNCLEAN,
)
from waterline.checker.kafka.deployed.properties_file import (
    settings_of,
    sorted_out,
    without_repeated,
)
from waterline.checker.kafka.deployed.setting import Setting
from waterline.checker.kafka.deployed.text_file import CONFIG_BYTES_MAX, File

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
