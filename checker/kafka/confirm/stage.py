"""Control of a real cluster: every act that a model step can need.

Brokers, links between them, the harness as controller, and the producers' open requests. Nothing
here knows the model: arguments are brokers, offsets and epochs. How brokers learn and live with
ZooKeeper and with KRaft is in `zookeeper` and `kraft.stage`.
"""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waterline.checker.kafka.confirm.brokers import Brokers
from waterline.checker.kafka.confirm.decisions import Decides, Decision
from waterline.checker.kafka.confirm.proxy import Exchange, Link, listens, wait_until
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.wire import (
    ALTER_REPLICA_LOG_DIRS,
    OFFSET_FOR_LEADER_EPOCH,
    PRODUCE,
    Pending,
    Record,
    call,
    error_name,
    fetch,
    one_record,
    records_in,
)

PRODUCE_SECONDS_MAX = 900.0
"""Time for which a leader waits for its followers: longer than any replay takes."""
ACKS = {"all": -1, "1": 1, "0": 0}


@dataclass(slots=True)
class PendingRecord:
    """Record sent by a producer: its leader and its outcome."""

    record: int
    leader: int
    pending: Pending

    @property
    def outcome(self) -> str:
        """Answer to the producer: see `describe_answer`."""
        return describe_answer(self.pending)


def describe_answer(pending: Pending | None) -> str:
    """Describe the answer to a producer: `waiting`, `acknowledged`, or the error."""
    if pending is None or not pending.is_over():
        return "waiting"
    if pending.answer is None:
        return "no answer"
    code = pending.answer.responses[0].partition_responses[0].error_code
    return error_name(code) if code else "acknowledged"


def send_record(port: int, topic: str, record: int, *, acks: str, release: KafkaRelease) -> Pending:
    """Send a record to the leader behind a port, as a producer of the release; do not wait.

    Its acknowledgement is what is pending, for `PRODUCE_SECONDS_MAX` at the most.
    """
    old = not release.at_least(0, 11)
    batch = one_record(f"m{record}".encode(), magic=1 if old else 2)
    values = {
        "acks": ACKS[acks],
        "timeout_ms": int(PRODUCE_SECONDS_MAX * 1000),
        "topic_data": [{"name": topic, "partition_data": [{"index": 0, "records": batch}]}],
    }
    return Pending(port, PRODUCE, 2 if old else 3, values, seconds=PRODUCE_SECONDS_MAX)


STEP_SECONDS_MAX = 15.0
"""Time limit of a broker for one step."""
FIRST_CHECKPOINT_SECONDS_MAX = 10.0
"""Time limit of a broker, on a busy machine, for the checkpoint after its first decision."""
GRACE_SECONDS = 0.3
"""Time for a broker to take up a decision before what it waits for is lost."""


class StepFailed(Exception):
    """Brokers did not do what the step asks for: `what` was waited for, `found` is there."""

    def __init__(self, what: str, found: str) -> None:
        self.what = what
        self.found = found
        super().__init__(f"{what}; found: {found}")


class NotHeld(Exception):
    """The harness could not hold back, or bring about, something: it says nothing of Kafka."""


class Stage(ABC):
    """A cluster of brokers for one partition, whose controller is the harness.

    `checker.kafka.confirm.staging` starts it, and begins and ends what is played on it.
    """

    reads_log_at_start = False
    """True if a broker that restarts reads decisions before it learns one (KRaft)."""

    def __init__(
        self,
        release: KafkaRelease,
        brokers: Brokers,
        controller: Decides,
        links: dict[tuple[int, int], Link],
    ) -> None:
        self.release = release
        self.brokers = brokers
        self.controller = controller
        self.links = links
        self.asked: list[PendingRecord] = []
        self.sent: set[int] = set()
        """Followers whose fetch counts as sent; any other that waits at its link does not."""
        self.epochs_learned: dict[int, int] = {}
        self._have_learned: set[int] = set()
        """Brokers whose process has learned some decision since it was started."""

    @abstractmethod
    def learn(
        self, broker: int, decision: Decision, alive: Sequence[int], *, outlives: bool = False
    ) -> None:
        """A broker learns a decision, and has taken it up when this returns.

        `alive` are those that it takes for alive from now on. It may wait for a fetch that it has
        on its way: that is lost then, or, with `outlives`, only to its sender. Raises `StepFailed`.
        """

    @abstractmethod
    def restart(self, broker: int) -> None:
        """Start the process again, until it has registered; it learns nothing yet."""

    @abstractmethod
    def forget_topic(self) -> None:
        """Everybody is up, and has forgotten the topic; nothing of it is on its way."""

    def answer_as_kafka(self) -> None:
        """Answer the brokers' requests to the controller as Kafka would; here there are none."""
        return

    @property
    def topic(self) -> str:
        """Topic of the partition."""
        return self.controller.topic

    @property
    def replicas(self) -> range:
        """Every broker's number."""
        return range(len(self.brokers.ports))

    # Producers.

    def produce(self, leader: int, record: int, acks: str) -> None:
        """Send a record and wait until it is in the leader's log; the answer may come much later.

        Raises `StepFailed` where the leader does not take it.
        """
        before = len(self.log(leader))
        port = self.brokers.ports[leader]
        pending = send_record(port, self.topic, record, acks=acks, release=self.release)
        asked = PendingRecord(record, leader, pending)
        self.asked.append(asked)
        not_refused = {"waiting", "acknowledged"}

        def is_taken() -> bool:
            return len(self.log(leader)) > before or asked.outcome not in not_refused

        if not wait_until(is_taken, STEP_SECONDS_MAX) or len(self.log(leader)) <= before:
            raise StepFailed(f"r{leader} appends m{record}", asked.outcome)

    # Replication.

    def send_fetch(self, follower: int, leader: int, wanted: Callable[[Any], str]) -> None:
        """See that the follower's fetch waits at its link; from now on it counts as sent.

        `wanted` says what is wrong with a fetch, "" for nothing. One that was sent before the
        follower's last change is lost once, and it asks anew. Raises `StepFailed`.
        """
        link = self.links[follower, leader]
        found = "no request"
        for _ in range(3):
            if not link.wait_for(_is_asking, STEP_SECONDS_MAX):
                break
            exchange = link.current
            if exchange is None:
                continue
            found = wanted(exchange.request)
            if not found:
                self.sent.add(follower)
                return
            link.lose()
        raise StepFailed(f"r{follower} asks r{leader} with a fetch of its state", found)

    def leader_fetch(self, follower: int, leader: int) -> Any:
        """Let the request through; the answer, which waits at the link, None for a lost request.

        None as well for an answer that is left unread (`is_unread`).
        """
        link = self.links[follower, leader]
        exchange = link.current
        if exchange is None:
            raise StepFailed(f"r{follower}'s fetch waits", "no request")
        link.let_ask()
        if not link.wait_for(
            lambda now: now is not exchange or exchange.answer is not None or exchange.has_begun,
            STEP_SECONDS_MAX,
        ):
            raise StepFailed(f"r{leader} answers r{follower}'s fetch", "no answer")
        return exchange.answer

    def is_unread(self, follower: int, leader: int) -> bool:
        """True if an answer has begun to arrive and is still unread."""
        exchange = self.links[follower, leader].current
        return exchange is not None and exchange.has_begun and exchange.answer is None

    def read_late(self, follower: int, leader: int) -> None:
        """Read the answer that was left unread. Raises `StepFailed`."""
        link = self.links[follower, leader]
        exchange = link.current
        link.read_on()
        link.wait_for(lambda now: now is None or now.answer is not None, STEP_SECONDS_MAX)
        if exchange is None or exchange.answer is None:
            raise StepFailed(f"the rest of r{leader}'s answer to r{follower}", "no more of it")

    def receive(self, follower: int, leader: int) -> None:
        """Let the answer through, and wait until the follower is done with it: it asks again.

        A follower that exits upon it is done as well. Raises `StepFailed`.
        """
        link = self.links[follower, leader]
        if link.current is None or link.current.answer is None:
            raise StepFailed(f"an answer to r{follower} waits", "none")
        self.sent.discard(follower)
        link.let_answer()

        def is_done() -> bool:
            return _is_asking(link.current) or not self.brokers.is_up(follower)

        if not wait_until(is_done, STEP_SECONDS_MAX):
            raise StepFailed(f"r{follower} takes the answer and asks again", "no request")

    def receive_refusal(self, follower: int, leader: int) -> None:
        """Let an error through. A follower that is fenced (from 2.1 on) asks no more until it has
        learned something, so its next request is not waited for.
        """
        link = self.links[follower, leader]
        refused = link.current
        self.sent.discard(follower)
        link.let_answer()
        link.wait_for(lambda now: now is not refused, STEP_SECONDS_MAX)

    def receive_and_exit(self, follower: int, leader: int) -> None:
        """Let the answer through to a follower that exits upon it. Raises `StepFailed`.

        0.10 stops serving, and then its exit waits for the very thread that it is called from:
        what is left of it is killed.
        """
        self.sent.discard(follower)
        self.links[follower, leader].let_answer()
        port = self.brokers.ports[follower]

        def is_gone() -> bool:
            return not self.brokers.is_up(follower) or not listens(port)

        if not wait_until(is_gone, STEP_SECONDS_MAX):
            raise StepFailed(f"r{follower} exits", "it goes on serving")
        self.kill(follower)

    def ask_epoch(self, follower: int, leader: int) -> bool:
        """Carry a question OffsetForLeaderEpoch and its answer; whether the follower had one.

        One with an empty log may know no epoch to ask about, and fetches at once.
        """
        link = self.links[follower, leader]
        if not link.wait_for(_is_asking, STEP_SECONDS_MAX) or link.current is None:
            raise StepFailed(f"r{follower} asks r{leader} where its epoch ends", "no request")
        if link.current.request.key != OFFSET_FOR_LEADER_EPOCH:
            return False
        if self.leader_fetch(follower, leader) is None:
            raise StepFailed(f"r{leader} answers r{follower}'s question", "the connection broke")
        self.receive(follower, leader)
        return True

    def repeat_fetch(self, follower: int, leader: int, offset: int, epoch: int) -> None:
        """Send a fetch that the leader has handled before once more, in the follower's name.

        It tells the leader nothing new, but that the follower was in sync just now. The answer goes
        nowhere.
        """
        version = 9 if self.release.at_least(2, 1) else 5 if self.release.at_least(0, 11) else 3
        fetch(
            self.brokers.ports[leader],
            follower,
            version,
            topic=self.topic,
            offset=offset,
            epoch=epoch,
            log_start=0,
            seconds=STEP_SECONDS_MAX,
        )

    def lose(self, follower: int, *, outlives: bool = False) -> None:
        """Whatever the follower has on its way is lost.

        With `outlives` a fetch that counts as sent is lost to the follower alone.
        """
        was_sent = follower in self.sent
        self.sent.discard(follower)
        for (of, _), link in self.links.items():
            if of == follower and link.current is not None:
                link.lose(outlives=outlives and was_sent)

    # Brokers' lives.

    def kill(self, broker: int, *, outlives: bool = False) -> None:
        """End it by kill -9: its connections break.

        With `outlives` the fetch that it has sent may still reach its leader.
        """
        self.brokers.kill(broker)
        self._forget(broker, outlives=outlives)

    def shut_down(self, broker: int, *, outlives: bool = False) -> None:
        """A clean shutdown. The broker waits for its fetch, which is lost; `outlives` as above."""
        self.lose(broker, outlives=outlives)
        self.brokers.ask_to_end(broker)
        end = time.monotonic() + STEP_SECONDS_MAX
        while self.brokers.is_up(broker) and time.monotonic() < end:
            time.sleep(0.1)
            self.lose(broker)  # It may have asked once more meanwhile.
        self.brokers.shut_down(broker)
        self._forget(broker)

    def _forget(self, broker: int, *, outlives: bool = False) -> None:
        self.epochs_learned.pop(broker, None)
        self._have_learned.discard(broker)
        self.lose(broker, outlives=outlives)
        for (follower, leader), link in self.links.items():
            if leader != broker:
                continue
            if link.current is not None:
                self.sent.discard(follower)
            link.lose()
            link.lose_stray()

    def move_directory(self, broker: int) -> None:
        """Move the broker's log to its other log directory (KIP-113, AlterReplicaLogDirs, 1.1).

        Raises `NotHeld` for a broker that has no other, or is too old; and `StepFailed`.
        """
        if not self.release.at_least(1, 1):
            raise NotHeld(f"brokers of {self.release.name} move no log (KIP-113, 1.1)")
        here = self.brokers.data(broker)
        others = [each for each in self.brokers.directories(broker) if each != here]
        if not others:
            raise NotHeld(f"r{broker} has one log directory")
        moved = {"topics": [{"name": self.topic, "partitions": [0]}], "path": str(others[0])}
        port = self.brokers.ports[broker]
        asked = {"dirs": [moved]}
        version = 1 if self.release.at_least(2, 0) else 0
        answer = call(port, ALTER_REPLICA_LOG_DIRS, version, asked, seconds=STEP_SECONDS_MAX)
        [code] = [each.error_code for topic in answer.results for each in topic.partitions]
        if code:
            raise StepFailed(f"r{broker} moves its log", error_name(code))
        # For a moment no directory has it.
        if not wait_until(self.brokers.log_in(others[0]).is_dir, STEP_SECONDS_MAX):
            raise StepFailed(f"r{broker} moves its log", "it is where it was")

    def write_checkpoint(self, broker: int, high_watermark: int) -> None:
        """Put a high watermark where the broker's checkpoint thread would."""
        text = f"0\n1\n{self.topic} 0 {high_watermark}\n"
        self.brokers.checkpoint_file(broker).write_text(text, encoding="ascii")

    @contextlib.contextmanager
    def _checkpoint_kept(self, broker: int) -> Iterator[None]:
        """Undo what a broker writes to its checkpoint right after its first decision.

        It does so once (startHighWatermarkCheckPointThread), and nothing can hold it back. Nothing
        is read from that file until the process starts again.
        """
        files = self.brokers.checkpoint_files(broker)
        if broker in self._have_learned:
            yield
            return
        self._have_learned.add(broker)
        before = {file: _identity(file) for file in files}
        texts = {file: file.read_bytes() if before[file] else b"" for file in files}

        def written_files() -> list[Path]:
            return [file for file in files if _identity(file) != before[file]]

        yield
        wait_until(lambda: bool(written_files()), FIRST_CHECKPOINT_SECONDS_MAX, every=0.01)
        for file in written_files():
            file.write_bytes(texts[file])

    # What can be seen.

    def log(self, broker: int) -> list[Record]:
        """The records of the broker's log, from its segments."""
        return records_in(self.brokers.segment(broker))

    def exchange(self, follower: int, leader: int) -> Exchange | None:
        """Return the follower's pending exchange with the leader, None if it has sent nothing."""
        return self.links[follower, leader].current if follower in self.sent else None


def _identity(file: Path) -> tuple[int, int] | None:
    """Return a key that changes when the file is replaced or written; None if it does not exist."""
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def _is_asking(exchange: Exchange | None) -> bool:
    """True if a request waits that has not been let through."""
    return exchange is not None and not exchange.may_ask
