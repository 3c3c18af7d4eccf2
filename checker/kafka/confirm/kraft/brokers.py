"""Brokers with KRaft: their settings, and their disks as kafka-storage would format them."""

from __future__ import annotations

import base64
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path

from waterline.checker.kafka.confirm.brokers import (
    OUT_OF_REACH_MS,
    Brokers,
    BrokerSettings,
    shared_lines,
)
from waterline.checker.kafka.confirm.processes import Processes
from waterline.checker.kafka.confirm.quorum.state import NODE
from waterline.checker.kafka.confirm.wire import HOST

HEARTBEAT_MS = 50
"""Interval of a broker's reports on the metadata log that it has applied."""
_DISK_NAME = "meta.properties"


class KraftBrokers(Brokers):
    """Brokers of one cluster; the controller of each is at its own of `controller_ports`.

    Directories have names of their own since 3.7 (KIP-858); before, those of a broker are alike.
    """

    def __init__(
        self,
        controller_ports: Sequence[int],
        settings: BrokerSettings,
        folder: Path,
        processes: Processes,
        ports: Sequence[int],
        *,
        with_directory_ids: bool = True,
    ) -> None:
        super().__init__(folder, processes, ports, settings.log_directories)
        cluster = cluster_id(uuid.uuid4())
        for broker, (port, controller) in enumerate(zip(ports, controller_ports, strict=True)):
            # A log directory of its own for metadata: a disk that is lost does not take it along.
            metadata = folder / f"metadata-{broker}"
            for disk in (*self.directories(broker), metadata):
                _format(disk, broker, cluster, with_directory_id=with_directory_ids)
            address = f"PLAINTEXT://{HOST}:{port}"
            self.configure(
                broker,
                [
                    "process.roles=broker",
                    f"node.id={broker}",
                    f"listeners={address}",
                    f"advertised.listeners={address}",
                    f"metadata.log.dir={metadata}",
                    "controller.listener.names=CONTROLLER",
                    f"controller.quorum.voters={NODE}@{HOST}:{controller}",
                    "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                    # An AlterPartition may wait for as long as the trace likes.
                    f"controller.socket.timeout.ms={OUT_OF_REACH_MS}",
                    f"broker.heartbeat.interval.ms={HEARTBEAT_MS}",
                    f"broker.session.timeout.ms={OUT_OF_REACH_MS}",
                    f"initial.broker.registration.timeout.ms={OUT_OF_REACH_MS}",
                    # Every fetch and every answer names the partition, changed or not.
                    "max.incremental.fetch.session.cache.slots=0",
                    *shared_lines(settings, self.directories(broker)),
                ],
            )

    def empty_disk(self, broker: int) -> None:
        """An empty disk, formatted, in place of that of a broker that is down."""
        kept = (self.data(broker) / _DISK_NAME).read_bytes()
        shutil.rmtree(self.data(broker))
        self.data(broker).mkdir()
        (self.data(broker) / _DISK_NAME).write_bytes(kept)


def cluster_id(chosen: uuid.UUID) -> str:
    """The name of a cluster, as Kafka spells it; none begins with `-`, as options do."""
    value = chosen.bytes if chosen.bytes[0] < 0xF8 else bytes([0]) + chosen.bytes[1:]
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _format(disk: Path, broker: int, cluster: str, *, with_directory_id: bool) -> None:
    """Write the files that kafka-storage would, without a JVM for each disk."""
    disk.mkdir()
    text = f"version=1\ncluster.id={cluster}\nnode.id={broker}\n"
    if with_directory_id:
        text += f"directory.id={cluster_id(uuid.uuid4())}\n"
    (disk / _DISK_NAME).write_text(text, encoding="utf-8")
