"""Tables of the steps that brokers of a release take: one with ZooKeeper, another with KRaft."""

from __future__ import annotations

from collections.abc import Mapping

from waterline.checker.kafka.confirm.kraft.mapping import KRAFT_ROWS
from waterline.checker.kafka.confirm.mapping import TABLE, Row
from waterline.checker.kafka.confirm.releases import KafkaRelease

KRAFT_TABLE: Mapping[str, Row] = {**TABLE, **KRAFT_ROWS}


def row_of(action: str, release: KafkaRelease) -> Row:
    """The row of an action on brokers of this release."""
    return (KRAFT_TABLE if release.is_kraft else TABLE)[action]
