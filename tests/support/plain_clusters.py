"""Real brokers that nobody steers, one for a release, behind a proxy that notes every request.

The proxy reads the first field of each request by itself: the number of the API. It shares no code
with the client that is tried.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from waterline.checker.kafka.confirm.brokers import free_ports
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.processes import Processes
from waterline.checker.kafka.confirm.releases import kafka_release

HOST = "127.0.0.1"
SECONDS_MAX = 60.0


@dataclass(slots=True)
class Plain:
    """A broker: where a client reaches it, and the APIs that were asked."""

    port: int
    direct: int
    asked: list[int] = field(default_factory=list)
    folder: Path = Path()


@contextlib.contextmanager
def plain_broker(name: str) -> Iterator[Plain]:
    """A broker of the release, KRaft from 4.0 on, else with a ZooKeeper of its own."""
    release = kafka_release(name)
    jars = class_path(release, folder=None, announce=lambda line: None)
    with tempfile.TemporaryDirectory(prefix="plain-") as text, Processes(Path(text), jars) as run:
        folder = Path(text)
        direct, proxied, other = free_ports(3)
        plain = Plain(proxied, direct, folder=folder)
        lines = [
            f"log.dirs={folder}/data",
            f"advertised.listeners=PLAINTEXT://{HOST}:{proxied}",
            "default.replication.factor=1",
            "offsets.topic.replication.factor=1",
            "replica.lag.time.max.ms=20000",
            "min.insync.replicas=1",
        ]
        if release.at_least(4, 0):
            _kraft(run, folder, [*lines, *_kraft_lines(direct, other)])
        else:
            _zookeeper(run, folder, other)
            own = [f"listeners=PLAINTEXT://{HOST}:{direct}", f"zookeeper.connect={HOST}:{other}"]
            (folder / "server.properties").write_text("\n".join([*lines, *own, "broker.id=0"]))
        run.start("broker", "kafka.Kafka", str(folder / "server.properties"))
        _await(lambda: _listens(direct))
        with _proxy(plain):
            yield plain


def _kraft_lines(direct: int, controller: int) -> list[str]:
    return [
        "process.roles=broker,controller",
        "node.id=0",
        f"controller.quorum.voters=0@{HOST}:{controller}",
        f"listeners=PLAINTEXT://{HOST}:{direct},CONTROLLER://{HOST}:{controller}",
        "controller.listener.names=CONTROLLER",
    ]


def _kraft(run: Processes, folder: Path, lines: list[str]) -> None:
    file = folder / "server.properties"
    file.write_text("\n".join(lines))
    run.run("kafka.tools.StorageTool", "format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", str(file))


def _zookeeper(run: Processes, folder: Path, port: int) -> None:
    file = folder / "zookeeper.properties"
    file.write_text(
        f"dataDir={folder}/zookeeper\nclientPort={port}\nclientPortAddress={HOST}\n"
        "admin.enableServer=false\n"
    )
    run.start("zookeeper", "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(file))
    _await(lambda: _listens(port))
    time.sleep(0.5)


def _await(happened: Callable[[], bool]) -> None:
    until = time.monotonic() + SECONDS_MAX
    while not happened():
        assert time.monotonic() < until, "the broker did not start"
        time.sleep(0.1)


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


@contextlib.contextmanager
def _proxy(plain: Plain) -> Iterator[None]:
    server = socket.create_server((HOST, plain.port))
    threads = threading.Thread(target=_accept, args=(server, plain), daemon=True)
    threads.start()
    try:
        yield
    finally:
        server.close()


def _accept(server: socket.socket, plain: Plain) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = server.accept()
            broker = socket.create_connection((HOST, plain.direct))
            for pair in ((client, broker, plain), (broker, client, None)):
                threading.Thread(target=_pass, args=pair, daemon=True).start()


def _pass(source: socket.socket, target: socket.socket, plain: Plain | None) -> None:
    with contextlib.suppress(OSError), source, target:
        while True:
            size = _exactly(source, 4)
            frame = _exactly(source, int.from_bytes(size, "big"))
            if plain is not None:
                plain.asked.append(int.from_bytes(frame[:2], "big"))
            target.sendall(size + frame)


def _exactly(source: socket.socket, count: int) -> bytes:
    found = b""
    while len(found) < count:
        more = source.recv(count - len(found))
        if not more:
            raise OSError("closed")
        found += more
    return found


def create_topics(plain: Plain, topics: dict[str, dict[str, str]]) -> None:
    """Topics with settings, by another client than the one that reads."""
    code = (
        "import sys, json; from kafka import KafkaAdminClient; from kafka.admin import NewTopic\n"
        "client = KafkaAdminClient(bootstrap_servers=sys.argv[1])\n"
        "client.create_topics([NewTopic(name=n, num_partitions=2, replication_factor=1, "
        "topic_configs=c) for n, c in json.loads(sys.argv[2]).items()])\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, f"{HOST}:{plain.port}", json.dumps(topics)],
        check=True,
        timeout=SECONDS_MAX,
        env=os.environ.copy(),
        capture_output=True,
    )
