"""Answers of `waterline ask` about a real cluster, and what happens if brokers are restarted.

    python -m lab.experiments.asked --kafka 4.4.0
    python -m lab.experiments.asked --kafka 3.9.1:kraft

Three brokers, each with a rack, and their controller; 200 topics of five classes. Broker 2 is
killed, so that one partition is below min.insync.replicas; with ELR another one has ELR members
that are not replicas. Each restart that was asked about is then done: a record is sent to every
partition, and those without a leader and those that refuse it must be the ones that the answer
names. Acknowledged records that are in no leader's log are counted. Exit code 3 if any answer was
wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lab.experiments.real_controller import KraftCluster, started
from lab.experiments.watched import NotReached, Watched
from waterline.checker.cli.shared.exit_codes import (
    BAD_USAGE,
    HOLDS,
    INCOMPLETE,
    UNEXPECTED,
    VIOLATED,
)
from waterline.checker.cli.shared.progress import ending_as_by_ctrl_c
from waterline.checker.kafka.confirm.carrying_out import work_folder
from waterline.checker.kafka.confirm.decisions import TOPIC
from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm, NoAnswer
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.confirm.wire import HOST, PRODUCE, call, error_name, one_record

RACKS = ("a", "b", "c")
TIMEOUTS = {"broker.session.timeout.ms": 15_000}
"""A loaded machine is slow to send a heartbeat; 9 s is the default."""
SETTLE_SECONDS = 120.0
ASK_SECONDS = 30.0
EXPLORE_SECONDS = 3000.0
_METADATA, _CREATE_TOPICS = 3, 19
_REFUSED = {"not_enough_replicas", "not_enough_replicas_after_append"}
_LATER = {"not_leader_or_follower", "not_leader_for_partition", "request_timed_out"}
"""Answers of a cluster that has not settled yet."""


@dataclass(frozen=True, slots=True)
class Class:
    """Topics of one partition each, with the same replicas and settings."""

    name: str
    topics: int
    replicas: tuple[int, ...]
    min_insync_replicas: int
    unclean: bool = False


CLASSES = (
    Class("orders", 120, (0, 1, 2), 2),
    Class("payments", 40, (0, 1, 2), 1),
    Class("clicks", 20, (1, 2), 1, unclean=True),
    Class("sessions", 18, (1,), 1),
    Class("ledger", 1, (1, 2), 2),
)


@dataclass(slots=True)
class Asked:
    """A cluster, the records that it has acknowledged, and how many answers were wrong."""

    cluster: KraftCluster
    folder: Path
    live: set[int] = field(default_factory=lambda: {0, 1, 2})
    acknowledged: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    sent: int = 0
    wrong: int = 0

    def create(self, classes: Sequence[Class]) -> None:
        """The topics, and a record in each."""
        topics = [
            {
                "name": f"{each.name}{number}",
                "num_partitions": -1,
                "replication_factor": -1,
                "assignments": [{"partition_index": 0, "broker_ids": list(each.replicas)}],
                "configs": [
                    {"name": "min.insync.replicas", "value": str(each.min_insync_replicas)},
                    {"name": "unclean.leader.election.enable", "value": str(each.unclean).lower()},
                ],
            }
            for each in classes
            for number in range(each.topics)
        ]
        answer = self._call(_CREATE_TOPICS, 5, {"topics": topics})
        if codes := {error_name(each.error_code) for each in answer.topics if each.error_code}:
            raise BrokerFailed(f"CreateTopics was refused: {codes}")
        self.until("topics are led", lambda found: all(p.leader_id >= 0 for p in found.values()))

    def partitions(self) -> dict[str, Any]:
        """Each partition as a live broker knows it, by name. Raises `NoAnswer`."""
        found = self._call(_METADATA, 9, {"topics": None})
        if {each.node_id for each in found.brokers} != self.live:
            raise NoAnswer("who is up is not known yet")
        return {
            f"{topic.name}-{each.partition_index}": each
            for topic in found.topics
            for each in topic.partitions
        }

    def until(self, what: str, true: Any) -> None:
        """Wait until this is true of the partitions. Raises `NotReached`."""

        def is_true() -> bool:
            with contextlib.suppress(NoAnswer):
                return bool(true(self.partitions()))
            return False

        if not wait_until(is_true, SETTLE_SECONDS, every=0.5):
            raise NotReached(f"{what}: not within {SETTLE_SECONDS:.0f} s")

    def probe(self) -> tuple[set[str], set[str]]:
        """Send a record to every partition: those without a leader, and those that refuse it."""
        waiting, unavailable, refusing = dict[str, Any](), set[str](), set[str]()

        def are_answered() -> bool:
            with contextlib.suppress(NoAnswer):
                known = self.partitions()
                waiting.update({name: known[name] for name in waiting})
                self._send(waiting, unavailable, refusing)
            return not waiting

        self.until(
            "no dead leader",
            lambda found: {p.leader_id for p in found.values()} <= {-1, *self.live},
        )
        waiting |= self.partitions()
        if not wait_until(are_answered, SETTLE_SECONDS, every=1.0):
            raise NotReached(f"no answer of {len(waiting)} partitions, as {min(waiting)}")
        return unavailable, refusing

    def _send(self, waiting: dict[str, Any], unavailable: set[str], refusing: set[str]) -> None:
        by_leader: defaultdict[int, list[str]] = defaultdict(list)
        for name, each in list(waiting.items()):
            if each.leader_id < 0:
                unavailable.add(name)
                del waiting[name]
            else:
                by_leader[each.leader_id].append(name)
        for leader, names in by_leader.items():
            self.sent += 1
            value = f"m{self.sent}"
            data = [
                {
                    "name": name.rpartition("-")[0],
                    "partition_data": [
                        {
                            "index": int(name.rpartition("-")[2]),
                            "records": one_record(value.encode(), magic=2),
                        }
                    ],
                }
                for name in names
            ]
            values = {"acks": -1, "timeout_ms": 10_000, "topic_data": data}
            answer = call(self.cluster.ports[leader], PRODUCE, 3, values, seconds=ASK_SECONDS)
            for topic in answer.responses:
                for each in topic.partition_responses:
                    name, error = f"{topic.name}-{each.index}", error_name(each.error_code)
                    if not each.error_code:
                        self.acknowledged[name].append(value)
                    elif error in _REFUSED:
                        refusing.add(name)
                    elif error in _LATER:
                        continue
                    else:
                        raise BrokerFailed(f"{name}: Produce was answered {error}")
                    del waiting[name]

    def losses(self) -> set[str]:
        """Return partitions whose leader's log lacks an acknowledged record."""
        return {
            name
            for name, each in self.partitions().items()
            if each.leader_id >= 0
            and set(self.acknowledged[name]) - self._log(name, each.leader_id)
        }

    def _log(self, name: str, broker: int) -> set[str]:
        topic, _, index = name.rpartition("-")
        records = self.cluster.log(broker, int(index), topic=topic)
        return {each.value.decode().split(" ", 1)[0] for each in records}

    def ask(self, *options: str) -> dict[str, Any]:
        """Run `waterline ask` about the cluster; its screen, and its answer as JSON."""
        file, began = self.folder / "answer.json", time.monotonic()
        file.unlink(missing_ok=True)
        server = f"{HOST}:{self.cluster.ports[min(self.live)]}"
        command = ["ask", "--bootstrap-server", server, *options]
        done = subprocess.run(
            [Path(sys.executable).with_name("waterline"), *command, "--json", file],
            capture_output=True,
            text=True,
            timeout=EXPLORE_SECONDS,
            check=False,
        )
        print(f"$ waterline ask --bootstrap-server ... {' '.join(options)}")
        print(done.stdout, f"[exit code {done.returncode}, {time.monotonic() - began:.0f} s]\n")
        if not file.exists():
            raise BrokerFailed(f"ask failed: {done.stderr.strip()}")
        answer: dict[str, Any] = json.loads(file.read_text())
        return answer

    def compare(
        self, when: str, harm: Mapping[str, Any], *, lost: Collection[str] = ()
    ) -> set[str]:
        """Compare what was answered with what happens; return the partitions that are stopped.

        Partitions that were not explored are left out of the comparison.
        """
        found = self.probe()
        for what, stopped in zip(("unavailable", "refusing"), found, strict=True):
            said, seen = set(harm[what]), stopped - set(harm["unknown"])
            text = f"answered {_count(said)}; seen {_count(seen)}"
            self.judge(f"{when}, {what}: {text}", is_right=said == seen)
        losing = self.losses()
        text = f"expected {_count(lost)}; seen {_count(losing)}"
        self.judge(f"{when}, losing acknowledged records: {text}", is_right=losing == set(lost))
        return set().union(*found)

    def judge(self, text: str, *, is_right: bool) -> None:
        """Print what was compared, and count it if it differs."""
        self.wrong += not is_right
        print(f"  {'right' if is_right else 'WRONG'}  {text}", flush=True)

    def restart(self, broker: int, *, code: int, lost: Collection[str] = ()) -> None:
        """Ask whether a broker may be restarted, restart it, and compare."""
        answer = self.ask("--restart", str(broker))
        given = answer["exit_code"]
        self.judge(f"--restart {broker}: exit code {given}", is_right=given == code)
        before = set().union(*self.probe())
        self.shut_down(broker)
        stopped = self.compare(f"while {broker} is away", answer["meanwhile"], lost=lost)
        is_worse = bool((stopped - before) | set(lost))
        text = f"while {broker} is away, {'worse' if is_worse else 'no worse'} than before"
        self.judge(text, is_right=is_worse == (given != HOLDS))
        self.start(broker)
        self.await_sync(but=lost)

    def kill(self, broker: int) -> None:
        """End a broker by kill -9, and wait until the controller knows."""
        self.cluster.kill(broker)
        self.live.remove(broker)
        self.until(f"{broker} is known to be down", bool)
        print(f"\nBroker {broker} is killed.\n")

    def shut_down(self, broker: int) -> None:
        """End a broker by SIGTERM. Raises `NotReached`."""
        self.cluster.ask_to_end(broker)
        if not wait_until(lambda: not self.cluster.is_up(broker), SETTLE_SECONDS):
            raise NotReached(f"{broker} did not shut down")
        self.live.remove(broker)

    def start(self, broker: int) -> None:
        """Start a broker again."""
        self.cluster.start_again(broker)
        self.live.add(broker)

    def await_sync(self, *, but: Collection[str] = ()) -> None:
        """Wait until every live replica is in sync, but of these partitions."""
        self.until(
            "in sync",
            lambda found: all(
                set(p.replica_nodes) & self.live <= set(p.isr_nodes) and p.leader_id >= 0
                for name, p in found.items()
                if name not in but
            ),
        )

    def _call(self, key: int, version: int, values: dict[str, Any]) -> Any:
        port = self.cluster.ports[min(self.live)]
        patience = {"timeout_ms": int(ASK_SECONDS * 1000)}
        return call(port, key, version, values | patience, seconds=ASK_SECONDS)


def _count(names: Collection[str]) -> str:
    kinds = Counter(name.rpartition("-")[0].rstrip("0123456789") for name in names)
    listed = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    return f"{len(names)} ({listed})" if names else "0"


def leave_in_elr(asked: Asked) -> Watched:
    """Make 1 and 2 ELR members of a partition that has 0 alone as replica (C56)."""
    seen = Watched(asked.cluster, print)
    seen.create((0, 1, 2), partitions=2)
    seen.fill(0)
    seen.throttle(0)
    seen.reassign({0: [0], 1: [0]})
    seen.until_without_log(1, 2)
    seen.reassign({0: (0, 1, 2)})
    seen.until("p0 has three replicas in sync", lambda _: len(seen.now(0).isr) == len(RACKS))
    asked.acknowledged[f"{TOPIC}-1"] += seen.acknowledged
    return seen


def lose_uncleanly(asked: Asked) -> None:
    """Shut down 1, which alone is in sync, and start 2: partitions named by the answer lose."""
    asked.kill(2)
    asked.probe()
    losing = asked.ask("--restart", "1")["newly"]["losing"]
    said = {name for name, ways in losing.items() if any(not each["faults"] for each in ways)}
    asked.shut_down(1)
    asked.start(2)
    asked.until("2 leads", lambda found: all(found[name].leader_id == 2 for name in said))
    seen = asked.losses()
    text = f"answered, without a further fault, {_count(said)}; seen {_count(seen)}"
    asked.judge(f"1 is shut down and 2 started, losing records: {text}", is_right=said == seen)


def carry_out(asked: Asked, *, has_elr: bool) -> None:
    """Ask, and do it, with broker 2 down and then with all brokers up."""
    first, *others = CLASSES
    asked.create([replace(first, topics=first.topics + (not has_elr)), *others])
    seen = leave_in_elr(asked) if has_elr else None
    unavailable, refusing = asked.probe()
    asked.judge("every partition takes a record", is_right=not unavailable | refusing)
    asked.kill(2)
    answer = asked.ask()
    racks = {str(each["broker"]): each["rack"] for each in answer["brokers"]}
    is_known = racks == {"0": "a", "1": "b"} and answer["down"] == [2]
    asked.judge(f"up: {racks}, down: {answer['down']}", is_right=is_known)
    dangers = len(answer["dangers"])
    asked.judge(f"in danger: {dangers}", is_right=bool(dangers) == has_elr)
    asked.compare("now", answer["now"])
    asked.restart(1, code=VIOLATED)
    if seen is not None:
        print(f"\n1 and 2 are added to {TOPIC}-1 again, throttled.")
        seen.reassign({1: (0, 1, 2)})
        seen.until("1 copies", lambda _: seen.has_log(1))
    asked.restart(0, code=VIOLATED, lost=[f"{TOPIC}-1"] if has_elr else [])
    if seen is not None:
        seen.unthrottle()
        del asked.acknowledged[f"{TOPIC}-1"]
    asked.start(2)
    asked.await_sync()
    print("\nBroker 2 is started, and everything is in sync.\n")
    asked.restart(0, code=HOLDS)
    asked.restart(1, code=VIOLATED)
    lose_uncleanly(asked)


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry it out as the command line says; the exit code."""
    parser = argparse.ArgumentParser(description="Answers of `ask`, shown by doing.")
    parser.add_argument("--kafka", default="4.4.0", metavar="RELEASE")
    parser.add_argument("--keep", type=Path, help="a new folder for the brokers' files")
    given = parser.parse_args(arguments)
    began = time.monotonic()
    try:
        with ending_as_by_ctrl_c():
            release = kafka_release(given.kafka)
            jars = class_path(release, folder=None, announce=_to_stderr)
            with (
                work_folder(given.keep) as folder,
                started(folder, jars, _to_stderr, timeouts=TIMEOUTS, racks=RACKS) as cluster,
            ):
                asked = Asked(cluster, folder)
                carry_out(asked, has_elr=release.has_eligible_leader_replicas)
    except (CannotConfirm, NotReached, NoAnswer, BrokerFailed) as problem:
        _to_stderr(str(problem))
        return BAD_USAGE
    except KeyboardInterrupt:
        _to_stderr("interrupted")
        return INCOMPLETE
    print(f"{asked.wrong} wrong on {release.title}, {time.monotonic() - began:.0f} s.")
    return UNEXPECTED if asked.wrong else HOLDS


def _to_stderr(said: str) -> None:
    print(said, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
