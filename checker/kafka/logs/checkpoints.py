"""Checkpoint files of a broker: leader-epoch-checkpoint and replication-offset-checkpoint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from waterline.checker.kafka.logs.files import lines_of
from waterline.checker.kafka.logs.observation import BadLogs, Kind, Observation, Place, Span

_METADATA = "__cluster_metadata"
_BROKER_ID = re.compile(r"^(?:node|broker)\.id\s*=\s*(\d+)\s*$", re.MULTILINE)
_LAST = Span((1 << 80) - 1, 1 << 80)
"""Time after every line: the state when the files were copied."""


def entries_of(path: Path, passed_over: list[str]) -> Iterator[tuple[str, Observation]]:
    """The entries of a checkpoint, with the partition of each: version, number, entries.

    Raises `BadLogs`.
    """
    broker = _broker_of(path)
    if broker is None:
        passed_over.append(f"{path}: no meta.properties beside it says whose it is")
        return
    rows = [line for _, line in lines_of(path)]
    if not rows:
        passed_over.append(f"{path}: it is empty")
        return
    entries = [row.split() for row in rows[2:] if row.strip()]
    if len(rows) < 2 or rows[0].strip() != "0" or rows[1].strip() != str(len(entries)):
        raise BadLogs(f"{path}: not a checkpoint of version 0 with as many entries as it says")
    if path.parent.name.startswith(_METADATA):
        return
    try:
        if path.name == "leader-epoch-checkpoint":
            yield (
                path.parent.name,
                Observation(
                    broker=broker,
                    kind=Kind.HAS_EPOCHS,
                    place=Place(str(path), 1, " ".join(rows[2:])),
                    span=_LAST,
                    stream=str(path),
                    epochs=tuple((int(epoch), int(offset)) for epoch, offset in entries),
                ),
            )
            return
        for number, (topic, partition, offset) in enumerate(entries, 3):
            yield (
                f"{topic}-{partition}",
                Observation(
                    broker=broker,
                    kind=Kind.HAS_CHECKPOINT,
                    place=Place(str(path), number, rows[number - 1]),
                    span=_LAST,
                    stream=str(path),
                    high_watermark=int(offset),
                ),
            )
    except ValueError:
        raise BadLogs(f"{path}: an entry is not made of numbers, or of another length") from None


def _broker_of(path: Path) -> int | None:
    for folder in (path.parent, path.parent.parent):
        meta = folder / "meta.properties"
        if meta.is_file() and (
            matched := _BROKER_ID.search(meta.read_text(encoding="utf-8", errors="replace"))
        ):
            return int(matched[1])
    return None
