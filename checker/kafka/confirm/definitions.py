"""Definitions of Kafka's messages and metadata records, from the jars of a release.

kafka-clients and kafka-metadata carry the JSON sources of Kafka's own message classes, so each
release brings its own versions. Names of fields are Kafka's in snake case, as in the rest of the
harness.
"""

from __future__ import annotations

import json
import re
import uuid
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waterline.checker.kafka.confirm.errors import NoJars

NUMBERS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
}
"""Types of a fixed size, with their letters in `struct`."""
BYTES = frozenset({"string", "bytes", "records"})
NO_UUID = uuid.UUID(int=0)
_EMPTY = {"string": "", "bytes": b"", "records": b"", "uuid": NO_UUID}
_NEWEST = 1 << 15
_PLACE = re.compile(r"common/(message|metadata)/\w+\.json")
_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Struct(dict[str, Any]):
    """Values by field name; a field is an attribute as well."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True, slots=True)
class Versions:
    """A range of versions, both ends included."""

    low: int
    high: int

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    @classmethod
    def read(cls, text: str | None) -> Versions:
        """`3`, `2-5`, `4+`; `none` or no text is an empty range."""
        if text is None or text == "none":
            return NEVER
        if text.endswith("+"):
            return cls(int(text[:-1]), _NEWEST)
        low, _, high = text.partition("-")
        return cls(int(low), int(high or low))


NEVER = Versions(0, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field. `kind` is a type as `int32`, `[]string` or a struct's name.

    `flexible` is None where the message decides. `inner` are the fields of its struct.
    """

    name: str
    kind: str
    versions: Versions
    nullable: Versions = NEVER
    tagged: Versions = NEVER
    tag: int = -1
    default: Any = None
    flexible: Versions | None = None
    inner: tuple[Field, ...] = ()

    def usual(self, version: int) -> Any:
        """Return the default value of the field."""
        if self.default == "null":
            return None
        if self.kind.startswith("[]"):
            return []
        if self.kind in NUMBERS:
            return _number(self.kind, self.default)
        if self.kind in _EMPTY:
            return self.default or _EMPTY[self.kind]
        return Struct({e.name: e.usual(version) for e in self.inner if version in e.versions})


def _number(kind: str, default: Any) -> bool | int | float:
    """A default as definitions write it: 5, "0x10", "true", or nothing."""
    if kind == "bool":
        return default in {True, "true"}
    if kind == "float64":
        return float(default or 0)
    return int(str(default), 0) if default not in {None, ""} else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A request, a response, a header, or a record of the metadata log."""

    name: str
    key: int
    kind: str
    valid: Versions
    flexible: Versions
    fields: tuple[Field, ...]


@dataclass(slots=True)
class Definitions:
    """All messages of a release: by name, and requests, responses and records by key."""

    by_name: dict[str, Message] = field(default_factory=dict)
    requests: dict[int, Message] = field(default_factory=dict)
    responses: dict[int, Message] = field(default_factory=dict)
    records: dict[int, Message] = field(default_factory=dict)

    def add(self, text: str) -> None:
        """Take up one definition: JSON with comments on lines of their own."""
        declared = json.loads(_COMMENT.sub("", text))
        shared = {each["name"]: each["fields"] for each in declared.get("commonStructs", ())}
        self.put(
            Message(
                name=declared["name"],
                key=declared.get("apiKey", -1),
                kind=declared["type"],
                valid=Versions.read(declared["validVersions"]),
                flexible=Versions.read(declared.get("flexibleVersions")),
                fields=_fields(declared.get("fields", ()), shared),
            )
        )

    def put(self, message: Message) -> None:
        """Take up one message."""
        self.by_name[message.name] = message
        keyed = {"request": self.requests, "response": self.responses, "metadata": self.records}
        if message.kind in keyed:
            keyed[message.kind][message.key] = message


def definitions_in(jars: Iterable[Path]) -> Definitions:
    """Return the definitions in the jars of a release. Raises `NoJars` if there are none."""
    found = Definitions()
    for jar in jars:
        if jar.name.startswith(("kafka-clients-", "kafka-metadata-")):
            with zipfile.ZipFile(jar) as file:
                for name in file.namelist():
                    if _PLACE.fullmatch(name):
                        found.add(file.read(name).decode())
    if not found.requests or not found.records:
        raise NoJars("no jar of the release defines the messages of KRaft (common/metadata/*.json)")
    return found


def snake_case(name: str) -> str:
    """`IsrWithEpochs` as `isr_with_epochs`."""
    return _CAPITAL.sub("_", name).lower()


def _fields(
    declared: Sequence[Mapping[str, Any]], shared: Mapping[str, Sequence[Mapping[str, Any]]]
) -> tuple[Field, ...]:
    return tuple(
        Field(
            name=snake_case(each["name"]),
            kind=each["type"],
            versions=Versions.read(each.get("versions")),
            nullable=Versions.read(each.get("nullableVersions")),
            tagged=Versions.read(each.get("taggedVersions")),
            tag=int(each.get("tag", -1)),
            default=each.get("default"),
            flexible=(
                Versions.read(each["flexibleVersions"]) if "flexibleVersions" in each else None
            ),
            inner=_fields(
                each.get("fields") or shared.get(each["type"].removeprefix("[]"), ()), shared
            ),
        )
        for each in declared
    )
