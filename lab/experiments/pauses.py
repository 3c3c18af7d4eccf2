"""How short the pauses may be in which C21 loses a record on Kafka 4, and under which timeouts.

    python -m lab.experiments.pauses [--kafka 4.2.0] [--way move] [--runs 10] [--set NAME=VALUE]
    [--hold 0]

One controller and three brokers, everything at Kafka's defaults but for what --set says. r0 leads
and misses epoch 1, in which r2 leads and r1 truncates the record m1; epoch 2 is r0's again. How
leadership comes back to r0, and goes on to r1 once m1 is acknowledged, is the way:

  move      preferred elections alone, nobody ends; r1 stands still until it leads
  shutdown  r2 shuts down, and then r0; r1 stands still until it leads
  crash     r2 shuts down; r0 is killed (-9) once m1 is acknowledged; r1 never stands still

Each run prints a line of JSON: how long each broker stood still (seconds), what the producer was
answered and when (seconds after it sent m1), r0's epoch cache, the ISR, and whether m1 is lost.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

from lab.experiments.command import release_with_kraft
from lab.experiments.real_controller import KraftCluster, started
from waterline.checker.kafka.confirm.errors import CannotConfirm, NoAnswer
from waterline.checker.kafka.confirm.evidence import consume
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.stage import describe_answer
from waterline.checker.kafka.confirm.wire import Pending

WAYS = ("move", "shutdown", "crash")
FETCH_WAIT_SECONDS = 0.7
"""A fetch that waits, at a leader (replica.fetch.wait.max.ms, 500) or for metadata at the
controller (500 ms), has been answered by then. What such an answer brings, a broker hears of."""
STEP_SECONDS_MAX = 40.0
POLL_SECONDS = 0.01


class NotReached(Exception):
    """A step of the run did not happen in time."""


@dataclass(slots=True)
class Run:
    """One attempt, and when which broker stood still."""

    cluster: KraftCluster
    way: str
    _: KW_ONLY
    settle_seconds: float
    hold_seconds: float
    linger_seconds: float
    min_insync_replicas: int
    pending: Pending | None = None
    paused_at: dict[int, float] = field(default_factory=dict)
    paused_for: dict[int, float] = field(default_factory=dict)
    produced_at: float = 0.0
    answered_after: float | None = None

    def carried_out(self) -> dict[str, object]:
        """Every step; what was seen."""
        reached = "the end"
        try:
            self._up_to_the_acknowledgement()
            self._r1_leads()
        except (NotReached, NoAnswer, CannotConfirm) as problem:
            reached = str(problem)
        for broker in list(self.paused_at):
            self._resume(broker)
        return self._seen(reached)

    def _up_to_the_acknowledgement(self) -> None:
        cluster = self.cluster
        cluster.create_topic([0, 2, 1], self.min_insync_replicas)
        cluster.prefer(2, [0, 1])
        self._pause(2)
        time.sleep(FETCH_WAIT_SECONDS)
        self.pending = cluster.produce(0, b"m1")
        self.produced_at = time.monotonic()
        self._await(lambda: len(cluster.log(1)) == 1, "r1 fetches m1")
        time.sleep(FETCH_WAIT_SECONDS / 2)  # It asks again, so that r0 knows that it has m1.
        self._pause(0)
        time.sleep(self.settle_seconds)
        self._resume(2)
        cluster.elect_preferred(1)
        self._await(lambda: len(cluster.log(1)) == 0, "r1 truncates m1")
        if self.way != "crash":
            self._pause(1)
        self._r0_leads()
        if self.hold_seconds:
            time.sleep(max(0.0, self.paused_at[0] + self.hold_seconds - time.monotonic()))
        self._resume(0)
        if not self.pending.is_over(STEP_SECONDS_MAX):
            raise NotReached("the producer is answered")
        self.answered_after = time.monotonic() - self.produced_at

    def _r0_leads(self) -> None:
        cluster = self.cluster
        if self.way == "move":
            cluster.prefer(0, [1, 2], ask=2)
            cluster.elect_preferred(2)
        else:
            cluster.ask_to_end(2)
        if not cluster.leads(2, 0, STEP_SECONDS_MAX, every=POLL_SECONDS):
            raise NotReached("r0 is elected again")
        if self.way != "move":
            cluster.kill(2)

    def _r1_leads(self) -> None:
        cluster = self.cluster
        time.sleep(self.linger_seconds)
        ask = {"move": 2, "shutdown": 0, "crash": 1}[self.way]
        if self.way == "move":
            cluster.prefer(1, [0, 2], ask=2)
            cluster.elect_preferred(2)
        elif self.way == "shutdown":
            cluster.ask_to_end(0)
        else:
            cluster.kill(0)
        if not cluster.leads(ask, 1, STEP_SECONDS_MAX, every=POLL_SECONDS):
            raise NotReached("r1 is elected")
        if self.way == "shutdown":
            cluster.kill(0)
        if self.way != "crash":
            self._resume(1)
        if not cluster.leads(1, 1, STEP_SECONDS_MAX):
            raise NotReached("r1 leads")

    def _seen(self, reached: str) -> dict[str, object]:
        cluster = self.cluster
        answer = self._answer()
        read: list[str] | None = None
        isr: list[int] = []
        leader = -1

        def is_read() -> bool:
            nonlocal read, isr, leader
            up = [broker for broker in (1, 2, 0) if cluster.is_up(broker)]
            for broker in up:
                try:
                    leader, isr = cluster.leader_and_isr(broker)
                    read = consume(cluster.ports[leader]) if leader in up else None
                except (NoAnswer, CannotConfirm):
                    continue
                if read is not None:
                    return True
            return False

        wait_until(is_read, STEP_SECONDS_MAX, every=0.3)

        def is_followed() -> bool:
            up = [cluster.log(broker) for broker in range(3) if cluster.is_up(broker)]
            return all(log == up[0] for log in up)

        wait_until(is_followed, STEP_SECONDS_MAX, every=0.3)  # Whoever has to truncate does.
        logs = [len(cluster.log(broker)) for broker in range(3)]
        return {
            "way": self.way,
            "reached": reached,
            "still": {f"r{broker}": round(s, 2) for broker, s in sorted(self.paused_for.items())},
            "answer": answer,
            "answered_after": self.answered_after and round(self.answered_after, 2),
            "r0_epochs": cluster.epochs(0),
            "leader": leader,
            "isr": isr,
            "logs": logs,
            "read": read,
            "lost": answer == "acknowledged" and read == [] and logs[leader] == 0,
        }

    def _answer(self) -> str:
        return describe_answer(self.pending)

    def _pause(self, broker: int) -> None:
        self.cluster.pause(broker)
        self.paused_at[broker] = time.monotonic()

    def _resume(self, broker: int) -> None:
        since = self.paused_at.pop(broker)
        if self.cluster.is_up(broker):
            self.cluster.resume(broker)
        self.paused_for[broker] = time.monotonic() - since

    def _await(self, true: Callable[[], bool], what: str) -> None:
        if not wait_until(true, STEP_SECONDS_MAX, every=POLL_SECONDS):
            raise NotReached(what)


def setting(text: str) -> tuple[str, int]:
    """`broker.session.timeout.ms=3000`"""
    name, _, value = text.partition("=")
    if not name or not value.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a server's setting, NAME=NUMBER")
    return name, int(value)


def experiments(asked: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Every run that was asked for, each on a cluster of its own. Raises `CannotConfirm`."""
    release = release_with_kraft(asked.kafka)
    if not release.is_kraft:
        raise CannotConfirm(f"Kafka {asked.kafka} is run with ZooKeeper here; name 4.0.0 or later")
    jars = class_path(release, folder=None, announce=to_stderr)
    timeouts = dict(asked.set)
    for number in range(asked.runs):
        with (
            _folder(asked.keep, number) as folder,
            started(Path(folder), jars, to_stderr, timeouts=timeouts) as cluster,
        ):
            seen = Run(
                cluster,
                asked.way,
                settle_seconds=asked.settle,
                hold_seconds=asked.hold,
                linger_seconds=asked.linger,
                min_insync_replicas=asked.min_insync_replicas,
            ).carried_out()
        yield (
            seen
            | vars(asked)
            | {"keep": str(asked.keep or ""), "set": timeouts, "load": round(os.getloadavg()[0], 1)}
        )


def _folder(keep: Path | None, number: int) -> AbstractContextManager[str]:
    """A run's folder: one that stays, as `keep`/3, or one that is removed."""
    if keep is None:
        return tempfile.TemporaryDirectory(prefix="waterline-pauses-")
    kept = keep / str(number)
    kept.mkdir(parents=True)
    return nullcontext(str(kept))


def to_stderr(said: str) -> None:
    """What is under way."""
    print(said, file=sys.stderr)


def main() -> None:
    """Run the experiment as often as asked."""
    parser = argparse.ArgumentParser(description="How short the pauses of C21 may be on Kafka 4.")
    parser.add_argument("--kafka", default="4.2.0")
    parser.add_argument("--way", choices=WAYS, default="move")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument(
        "--settle",
        type=float,
        default=FETCH_WAIT_SECONDS,
        help="seconds from the moment that r0 stands still to the first election",
    )
    parser.add_argument("--hold", type=float, default=0.0, help="r0 stands still at least so long")
    parser.add_argument("--linger", type=float, default=0.0, help="how long r0 leads after that")
    parser.add_argument("--min-insync-replicas", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="keep the brokers' files, a folder for each run")
    parser.add_argument("--set", action="append", default=[], type=setting, metavar="NAME=VALUE")
    try:
        for seen in experiments(parser.parse_args()):
            print(json.dumps(seen), flush=True)
    except CannotConfirm as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main()
