"""A file of kafka-reassign-partitions: the replicas that partitions shall have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import msgspec

from waterline.checker.kafka.deployed.deployment import BadConfig
from waterline.checker.kafka.deployed.text_file import read_text

PROPOSED = "Proposed partition reassignment configuration"
"""The line of --generate before the JSON that is for --execute."""
_Number = Annotated[int, msgspec.Meta(ge=0)]


class _Partition(msgspec.Struct):
    topic: str
    partition: _Number
    replicas: Annotated[tuple[_Number, ...], msgspec.Meta(min_length=1)]


class _File(msgspec.Struct):
    partitions: Annotated[list[_Partition], msgspec.Meta(min_length=1)]


def read_reassignment(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the replicas by the name of the partition, as `orders-0`. Raises `BadConfig`."""
    remedy = "give the JSON that kafka-reassign-partitions --execute takes"
    before, _, text = read_text(path).text.rpartition(PROPOSED)
    try:
        found = msgspec.convert(json.loads("\n" * before.count("\n") + text), _File)
    except json.JSONDecodeError as problem:
        place = f"{path}:{problem.lineno}:{problem.colno}"
        raise BadConfig(f"{place}: {problem.msg}; {remedy}") from None
    except (msgspec.ValidationError, RecursionError) as problem:
        raise BadConfig(f"{path}: {problem}; {remedy}") from None
    wanted: dict[str, tuple[int, ...]] = {}
    for each in found.partitions:
        name = f"{each.topic}-{each.partition}"
        if name in wanted:
            raise BadConfig(f"{path}: {name} stands twice; keep one")
        if len({*each.replicas}) < len(each.replicas):
            listed = ",".join(map(str, each.replicas))
            raise BadConfig(f"{path}: {name} has a broker twice among its replicas {listed}")
        wanted[name] = each.replicas
    return wanted
