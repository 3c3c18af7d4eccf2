"""Spark's own standalone cluster on loopback: a master and workers, each a real process.

They come with PySpark. Workers start executors as processes of their own, so that one can be
killed as a machine would fail.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from urllib.request import urlopen

import pyspark

from tests.support.class_archive import quick_jvm
from waterline.checker.search.engines.java import QUICK_JVM, use_java

_SPARK = Path(pyspark.__file__).parent


@dataclass(slots=True)
class Standalone:
    """A running cluster."""

    url: str
    directory: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def executors(self) -> list[int]:
        """Process ids of the executors of this cluster."""
        found = []
        for process in Path("/proc").iterdir():
            try:
                command = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in command and str(self.directory).encode() in (
                _environment(process)
            ):
                found.append(int(process.name))
        return sorted(found)


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes() + bytes((process / "cwd").readlink())
    except OSError:
        return b""


@contextmanager
def standalone(directory: Path, *, workers: int = 2, cores: int = 1) -> Iterator[Standalone]:
    """A master and workers of so many cores each, until the block ends."""
    use_java()
    port, web = _free_port(), _free_port()
    cluster = Standalone(f"spark://127.0.0.1:{port}", directory)
    environment = {
        **os.environ,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(directory / "work"),
        "SPARK_LOCAL_DIRS": str(directory / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": quick_jvm(),
        "SPARK_LAUNCHER_OPTS": QUICK_JVM,
    }
    environment.pop("PYTHONPATH", None)
    try:
        master = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(web)]
        cluster.processes.append(_start("master.Master", master, directory, environment))
        _wait_for(web, "", cluster)
        for number in range(workers):
            options = ["--host", "127.0.0.1", "--cores", str(cores), "--memory", "1g"]
            options += ["--webui-port", "0", "--work-dir", str(directory / f"work-{number}")]
            cluster.processes.append(
                _start("worker.Worker", [*options, cluster.url], directory, environment)
            )
        _wait_for(web, f'"aliveworkers" : {workers}', cluster)
        yield cluster
    finally:
        for process in reversed(cluster.processes):
            process.terminate()
        for pid in cluster.executors():
            os.kill(pid, signal.SIGKILL)
        for process in cluster.processes:
            process.wait()


@contextmanager
def connect_server(
    directory: Path, master: str, more: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server of Spark Connect on a master, until the block ends: its address, its process.

    `more` are its settings beside those that it needs here.
    """
    use_java()
    port = _free_port()
    log = directory / "connect.log"
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.extraJavaOptions": quick_jvm(),
        "spark.ui.enabled": "false",
        **more,
    }
    options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    command = [_SPARK / "bin" / "spark-submit", "--master", master, *options]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    environment.pop("PYTHONPATH", None)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--class", server, "spark-internal"],
            stdout=output,
            stderr=output,
            env=environment,
            cwd=directory,
        )
    try:
        while not _listens(port):
            if process.poll() is not None:
                raise RuntimeError(f"Spark Connect did not come up: {log.read_text()[-2_000:]}")
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}", process
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _start(
    name: str, options: list[str], directory: Path, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    command = [str(_SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *options]
    with (directory / f"{name}-{time.monotonic_ns()}.log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=directory)


def _wait_for(port: int, sign: str, cluster: Standalone) -> None:
    """Until the master's page says so, while the cluster's processes live."""
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{port}/json/", timeout=5) as page:
                if sign in page.read().decode():
                    return
        except OSError:
            pass
        if ended := [process.args for process in cluster.processes if process.poll() is not None]:
            raise RuntimeError(f"the cluster did not come up ({sign!r}); ended: {ended}")
        time.sleep(0.2)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
