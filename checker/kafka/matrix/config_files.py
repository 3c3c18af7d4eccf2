"""Kafka configuration files: .properties, and the output of `kafka-configs --describe`.

Only the keys that matter to replication are looked at, each value with where it is from. A key that
is nearly one of them is refused: Kafka would ignore it, and the reader of the answer would not
know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import javaproperties

from checker.kafka.matrix.grid import ACKS, MIN_INSYNC, UNCLEAN
from checker.problem.errors import Refused
from model.core.nearest import nearest

FILE_BYTES_MAX = 1 << 20
BROKER = "inter.broker.protocol.version"
METADATA = "metadata.version"
ROLES = "process.roles"
ZOOKEEPER = "zookeeper.connect"
ELIGIBLE = "eligible.leader.replicas.version"
TOPIC_REPLICATION = "replication.factor"
REPLICATION = "default.replication.factor"
KEYS = (
    ROLES,
    ZOOKEEPER,
    METADATA,
    BROKER,
    ELIGIBLE,
    REPLICATION,
    TOPIC_REPLICATION,
    ACKS,
    MIN_INSYNC,
    UNCLEAN,
)
"""The keys that matter."""
_ALIKE = 0.85
"""How alike two keys are, of 1, where one is taken for a misspelt other. Kafka's own other keys are
at most 0.8 like one of these (unclean.leader.election.interval.ms)."""
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")
_DESCRIBED = re.compile(r"\s*(All|Dynamic|Default)? ?configs for \S.* are:?", re.IGNORECASE)
_DESCRIBED_LINE = re.compile(r"\s+([\w.-]+)=(.*?)(?: sensitive=(?:true|false) synonyms=.*)?")


class BadConfig(Refused, ValueError):
    """A file or a value in it cannot be used; the message names both and says what is allowed."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A key, its value, and who says so: a file, an option, or nobody."""

    key: str
    value: str
    source: str

    def refused(self, remedy: str) -> BadConfig:
        """That the value means nothing."""
        return BadConfig(f"{self.source}: {self.key} is {self.value!r}; {remedy}")


def read_settings(path: Path) -> dict[str, Setting]:
    """The settings of a file that matter. Raises `BadConfig`.

    A .properties file as Kafka reads it: the format of java.util.Properties, in ISO 8859-1, values
    trimmed; of a key that occurs twice the last.
    """
    text = _text_of(path)
    if _DESCRIBED.match(text):
        found = _described(path, text)
    else:
        try:
            found = javaproperties.loads(text)
        except ValueError as problem:
            raise BadConfig(f"{path} is no .properties file: {problem}") from None
    _require_no_misspelling(path, found)
    settings = {key: Setting(key, found[key].strip(), path.name) for key in KEYS if key in found}
    if not settings:
        raise BadConfig(f"{path} names nothing that matters here: none of {', '.join(KEYS)}")
    return settings


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    except OSError as problem:
        raise BadConfig(f"{path} cannot be read: {problem.strerror}") from None
    if len(content) > FILE_BYTES_MAX:
        raise BadConfig(f"{path} is larger than {FILE_BYTES_MAX:,} bytes; it is no configuration")
    if _NOT_TEXT.search(content):
        raise BadConfig(f"{path} is not text; a .properties file is")
    return content.decode("iso-8859-1")


def _described(path: Path, text: str) -> dict[str, str]:
    """The values in effect that `kafka-configs --describe` has printed, of one topic or broker.

    Older tools print all of them in one line, newer ones a line each with the values that it
    overrides.
    """
    found: dict[str, str] = {}
    for key, value in _described_pairs(text):
        if key in KEYS and found.setdefault(key, value) != value:
            raise BadConfig(
                f"{path}: {key} is described as {found[key]!r} and as {value!r}; "
                "keep what is said of one topic or broker"
            )
    return found


def _described_pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if header := _DESCRIBED.match(line):
            for pair in line[header.end() :].split(","):
                key, equals, value = pair.strip().partition("=")
                if equals:
                    yield key, value
        elif (matched := _DESCRIBED_LINE.fullmatch(line)) and matched[2] != "null":
            yield matched[1], matched[2]


def _require_no_misspelling(path: Path, found: Mapping[str, str]) -> None:
    for key in found:
        if key in KEYS:
            continue
        if near := nearest(key, KEYS, alike=_ALIKE):
            raise BadConfig(
                f"{path.name}: {key} is no key of Kafka's, which ignores it; did you mean {near}?"
            )
