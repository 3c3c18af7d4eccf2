"""A watched partition under a real controller: a line for each step, at the end lost records."""

from __future__ import annotations

import contextlib
import enum
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lab.experiments.real_controller import BROKER_CONFIG, TOPIC_CONFIG, KraftCluster
from waterline.checker.kafka.confirm.decisions import TOPIC
from waterline.checker.kafka.confirm.errors import NoAnswer
from waterline.checker.kafka.confirm.evidence import consume
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.stage import describe_answer
from waterline.checker.kafka.confirm.wire import Pending

STEP_SECONDS_MAX = 90.0
ACK_SECONDS_MAX = 15.0
MIN_INSYNC_REPLICAS = 2
RECORDS = 16
RECORD_BYTES = 900_000
"""Large enough that a throttled copy is under way for a while."""
THROTTLE_BYTES_PER_SECOND = 100_000
"""How much the leader of a copy sends, as kafka-reassign-partitions --throttle sets it."""
HEADER = f"{'s':>6}  {'replicas':9}  {'leader':6}  {'ISR':9}  {'ELR':5}  step"


class NotReached(Exception):
    """A step did not come about in time."""


class Verdict(enum.Enum):
    """The outcome of a run."""

    CONFIRMED = "confirmed"
    HELD = "held"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict, and the sentence that gives its reason."""

    verdict: Verdict
    reason: str


def judge_records(
    acknowledged: Sequence[str],
    read: Collection[str],
    logs: Mapping[int, Collection[str]],
) -> Outcome:
    """Judge by the records that producers had an answer for, once every broker is in sync again.

    `read` is what a consumer reads, and `logs` has what each broker's log holds. A record is lost
    if neither has it; one that a log has and no consumer reads leaves the run undecided.
    """
    kept = set[str]().union(*logs.values())
    lost = [name for name in acknowledged if name not in kept and name not in read]
    unread = [name for name in acknowledged if name in kept and name not in read]
    if not acknowledged:
        return Outcome(Verdict.UNDECIDED, "no record was acknowledged")
    if lost:
        return Outcome(
            Verdict.CONFIRMED,
            f"{len(lost)} of {len(acknowledged)} acknowledged records lost: in no log of any "
            f"broker ({' '.join(lost)})",
        )
    if unread:
        return Outcome(
            Verdict.UNDECIDED,
            f"{len(unread)} of {len(acknowledged)} acknowledged records are in a log, and no "
            f"consumer reads them ({' '.join(unread)})",
        )
    return Outcome(Verdict.HELD, f"a consumer reads all {len(acknowledged)} acknowledged records")


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition as describeTopics has it; without a leader `leader` is -1."""

    replicas: tuple[int, ...]
    leader: int
    isr: tuple[int, ...]
    elr: tuple[int, ...]

    def __str__(self) -> str:
        leader = str(self.leader) if self.leader >= 0 else "none"
        replicas, isr, elr = (
            " ".join(map(str, each)) or "-" for each in (self.replicas, self.isr, self.elr)
        )
        return f"{replicas:9}  {leader:6}  {isr:9}  {elr:5}"


@dataclass(slots=True)
class Watched:
    """A partition, by its `index`, of which every step prints what the broker `ask` knows."""

    cluster: KraftCluster
    say: Callable[[str], None]
    index: int = 0
    ask: int = 0
    acknowledged: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    # What is seen.

    def now(self, index: int | None = None) -> Partition:
        """The partition, or another one of the topic. Raises `NoAnswer`."""
        found = self.cluster.descriptions(self.ask)[self.index if index is None else index]
        return Partition(
            tuple(found.replica_nodes),
            found.leader_id,
            tuple(found.isr_nodes),
            tuple(found.eligible_leader_replicas or ()),
        )

    def show(self, step: str, seen: Partition | None = None) -> None:
        """Print a step, with the partition as it is then."""
        if seen is None:
            with contextlib.suppress(NoAnswer):
                seen = self.now()
        shown = str(seen) if seen is not None else f"{'no answer':35}"
        self.say(f"{time.monotonic() - self.began:6.1f}  {shown}  {step}")

    def until(self, step: str, true: Callable[[Partition], bool]) -> None:
        """Wait until this is true of the partition, and print the step. Raises `NotReached`."""
        seen: list[Partition] = []

        def is_true() -> bool:
            with contextlib.suppress(NoAnswer, IndexError):
                seen.append(self.now())
                return true(seen[-1])
            return False

        if not wait_until(is_true, STEP_SECONDS_MAX, every=0.1):
            raise NotReached(f"{step}: it did not come about in {STEP_SECONDS_MAX:.0f} s")
        self.show(step, seen[-1])

    def names(self, broker: int) -> list[str]:
        """The records in a broker's log, by name."""
        return [_name_of(each.value) for each in self.cluster.log(broker, self.index)]

    def has_log(self, broker: int) -> bool:
        """True if the broker has a log of it."""
        return self.cluster.has_log(broker, self.index)

    # What is done.

    def create(
        self,
        replicas: Sequence[int],
        *,
        partitions: int = 1,
        min_insync_replicas: int = MIN_INSYNC_REPLICAS,
    ) -> None:
        """A topic, led by the first of these replicas; the last partition is watched."""
        self.say(HEADER)
        self.index = partitions - 1
        self.cluster.create_topic(replicas, min_insync_replicas, partitions=partitions)
        which = "a topic" if partitions == 1 else f"a topic; p{self.index} is watched"
        self.until(
            f"{which}, min.insync.replicas={min_insync_replicas}",
            lambda now: now.leader == replicas[0] and len(now.isr) == len(replicas),
        )

    def produce(self, leader: int, *names: str, size: int = 0) -> None:
        """Send records with acks=all, one after the other, and print what the last was answered."""
        answer = ""
        for name in names:
            answer = self.answered(name, self.send(leader, name, size=size))
        which = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        self.show(f"{which}, acks=all: {answer}")

    def send(self, leader: int, name: str, *, size: int = 0) -> Pending:
        """Send a record with acks=all, and do not wait."""
        value = f"{name} ".encode() + b"." * size
        return self.cluster.produce(leader, value, partition=self.index)

    def answered(self, name: str, sent: Pending) -> str:
        """Wait for the answer to a record, and note it if it is acknowledged."""
        sent.is_over(ACK_SECONDS_MAX)
        answer = describe_answer(sent)
        if answer == "acknowledged":
            self.acknowledged.append(name)
        return answer

    def fill(self, leader: int) -> None:
        """Send so much that to copy it takes a while."""
        self.produce(leader, *(f"a{number}" for number in range(RECORDS)), size=RECORD_BYTES)

    def throttle(self, leader: int) -> None:
        """Limit what the leader sends to replicas that copy, as operators do at a reassignment."""
        rate = str(THROTTLE_BYTES_PER_SECOND)
        key = "leader.replication.throttled"
        self.cluster.configure(BROKER_CONFIG, str(leader), f"{key}.rate", rate, ask=leader)
        self.cluster.configure(TOPIC_CONFIG, TOPIC, f"{key}.replicas", "*", ask=self.ask)

    def unthrottle(self) -> None:
        """Let replicas copy as fast as they can."""
        key = "leader.replication.throttled.replicas"
        self.cluster.configure(TOPIC_CONFIG, TOPIC, key, "", ask=self.ask)

    def reassign(self, wanted: Mapping[int, Sequence[int] | None]) -> str:
        """Ask for other replicas, by partition, or (None) cancel; why not, "" if it is taken."""
        refusal = self.cluster.reassign(wanted, ask=self.ask)
        asked = ", ".join(
            f"p{index}: {'cancel' if replicas is None else ' '.join(map(str, replicas))}"
            for index, replicas in wanted.items()
        )
        self.show(f"reassign {asked}{f' is refused: {refusal}' if refusal else ''}")
        return refusal

    def until_without_log(self, *brokers: int) -> None:
        """Wait until these have deleted their logs, and print it. Raises `NotReached`."""
        self.until(
            f"{_and(brokers)} without a log",
            lambda _: not any(map(self.has_log, brokers)),
        )

    def kill(self, *brokers: int) -> None:
        """End brokers by kill -9."""
        for broker in brokers:
            self.cluster.kill(broker)

    def shut_down(self, broker: int) -> None:
        """Ask a broker to shut down (SIGTERM), and wait. Raises `NotReached`."""
        self.cluster.ask_to_end(broker)
        if not wait_until(lambda: not self.cluster.is_up(broker), STEP_SECONDS_MAX):
            raise NotReached(f"{broker} did not shut down in {STEP_SECONDS_MAX:.0f} s")

    def start(self, *brokers: int) -> None:
        """Start brokers, and wait until the controller has unfenced them. Raises `NotReached`."""
        for broker in brokers:
            self.cluster.start_again(broker)
        self.until(
            f"{_and(brokers)} up again",
            lambda _: all(self.cluster.lives(self.ask, each) for each in brokers),
        )

    def judge(self, *brokers: int) -> Outcome:
        """Look for lost records once these brokers are in sync. Raises `NotReached`."""
        self.unthrottle()
        self.until(f"{_and(brokers)} in sync", lambda now: set(brokers) <= set(now.isr))
        logs: dict[int, list[str]] = {}
        read: list[str] = []

        def is_settled() -> bool:
            logs.update({each: self.names(each) for each in self.cluster.replicas})
            with contextlib.suppress(NoAnswer):
                port = self.cluster.ports[self.now().leader]
                read[:] = [_name_of(each.encode()) for each in consume(port, index=self.index)]
                return all(logs[each] == read for each in brokers)
            return False

        wait_until(is_settled, STEP_SECONDS_MAX, every=0.5)
        lengths = ", ".join(f"{len(logs[each])} in {each}" for each in brokers)
        self.show(f"records: {lengths}; a consumer reads {len(read)}")
        return judge_records(self.acknowledged, read, logs)


def _and(brokers: Sequence[int]) -> str:
    *most, last = map(str, brokers)
    return f"{', '.join(most)} and {last}" if most else last


def _name_of(value: bytes) -> str:
    return value.decode().split(" ", 1)[0]
