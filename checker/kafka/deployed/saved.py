"""A deployment as a JSON file: what was read from a cluster, to be read again.

Only what the answer depends on is written: settings by name, value and origin, and partitions with
their brokers. No address, no user, no secret.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from waterline.checker.kafka.deployed.deployment import (
    Deployment,
    Node,
    Partition,
    Topic,
)
from waterline.checker.kafka.deployed.setting import BadConfig, Place, Setting

FORMAT = "waterline-deployment/2"


class _Place(msgspec.Struct, forbid_unknown_fields=True):
    file: str
    line: int
    column: int = 1


class _Setting(msgspec.Struct, forbid_unknown_fields=True):
    key: str
    value: str
    source: str
    place: _Place | None = None


class _Partition(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None = ()
    adding: tuple[int, ...] | None = ()
    place: _Place | None = None


class _Node(msgspec.Struct, forbid_unknown_fields=True):
    number: int
    rack: str | None = None


class _Topic(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    settings: dict[str, _Setting]
    now: list[_Partition] = []


class _Saved(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    brokers: dict[str, _Setting]
    topics: list[_Topic]
    has_all_topics: bool = False
    broker_count: _Setting | None = None
    of_controllers: _Setting | None = None
    unused: list[_Setting] = []
    notes: list[str] = []
    sources: list[str] = []
    clusters: list[str] = []
    nodes: list[_Node] = []
    racks: list[str] = []


def to_saved(deployment: Deployment) -> str:
    """The text of such a file."""
    written: dict[str, Any] = {"format": FORMAT, **asdict(deployment)}
    return json.dumps(written, indent=1) + "\n"


def read_saved(path: Path, text: str) -> Deployment:
    """The deployment that was saved. Raises `BadConfig`."""
    try:
        saved = msgspec.json.decode(text, type=_Saved)
    except msgspec.MsgspecError as problem:
        raise BadConfig(f"{path} is no saved deployment: {problem}; save it anew") from None
    if saved.format != FORMAT:
        raise BadConfig(f"{path} has format {saved.format!r}, this reads {FORMAT}; save it anew")
    return Deployment(
        brokers={key: _setting(setting) for key, setting in saved.brokers.items()},
        topics=tuple(_topic(topic) for topic in saved.topics),
        has_all_topics=saved.has_all_topics,
        broker_count=_setting(saved.broker_count) if saved.broker_count else None,
        of_controllers=_setting(saved.of_controllers) if saved.of_controllers else None,
        unused=tuple(map(_setting, saved.unused)),
        notes=tuple(saved.notes),
        sources=tuple(saved.sources),
        clusters=tuple(saved.clusters),
        nodes=tuple(Node(each.number, each.rack) for each in saved.nodes),
        racks=tuple(saved.racks),
    )


def _setting(saved: _Setting) -> Setting:
    return Setting(saved.key, saved.value, saved.source, _place(saved.place))


def _place(saved: _Place | None) -> Place | None:
    return None if saved is None else Place(saved.file, saved.line, saved.column)


def _topic(saved: _Topic) -> Topic:
    return Topic(
        name=saved.name,
        settings={key: _setting(setting) for key, setting in saved.settings.items()},
        now=tuple(
            Partition(**{**msgspec.structs.asdict(each), "place": _place(each.place)})
            for each in saved.now
        ),
    )
