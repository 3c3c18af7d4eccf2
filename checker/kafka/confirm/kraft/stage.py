"""Stage with KRaft: a broker learns what the scripted controller reveals of the metadata log.

When it has taken that up its heartbeat says so: nothing is guessed from time.
"""

from __future__ import annotations

import struct
import time
import uuid
from collections.abc import Callable, Sequence

from waterline.checker.kafka.confirm.codec import (
    message_bytes,
    read_message,
    read_response_frame,
    response_frame,
)
from waterline.checker.kafka.confirm.decisions import Decision
from waterline.checker.kafka.confirm.definitions import Definitions
from waterline.checker.kafka.confirm.errors import BrokerFailed
from waterline.checker.kafka.confirm.kraft.controller import KraftController
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.quorum.answers import FENCED_LEADER_EPOCH
from waterline.checker.kafka.confirm.quorum.controller import ScriptedController
from waterline.checker.kafka.confirm.quorum.state import AlterRequest
from waterline.checker.kafka.confirm.stage import (
    GRACE_SECONDS,
    STEP_SECONDS_MAX,
    NotHeld,
    Stage,
    StepFailed,
)
from waterline.checker.kafka.confirm.wire import FETCH

PARTITIONS = 1000
"""An error is 37 bytes at least; the buffers hold 16 kB (`SEND_BYTES`, `RECEIVE_BYTES`)."""
TOPIC, TOPIC_ID = "hosted-by-nobody", uuid.UUID(int=99)


class LongAnswer:
    """Change of a follower's fetch for its leader, and of the answer for the follower.

    A leader answers with a piece of its segment and reads it when the socket takes it
    (FileRecords.writeTo). So the proxy makes the answer longer than the buffers of both ends, and
    does not read it. The padding comes before the records: the proxy also asks for partitions that
    no broker hosts, and the leader answers each with an error. The follower does not see any of
    this.
    """

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def asked(self, frame: bytes) -> bytes:
        """The fetch, after the other partitions."""
        _, version = struct.unpack_from(">hh", frame)
        message = self._definitions.requests[FETCH]
        kind = self._definitions.by_name["RequestHeader"]
        _, at = read_message(kind, 2 if version in message.flexible else 1, frame)
        body, _ = read_message(message, version, frame, at)
        others = {
            "topic": TOPIC,
            "topic_id": TOPIC_ID,
            "partitions": [
                {"partition": each, "current_leader_epoch": -1, "partition_max_bytes": 1}
                for each in range(PARTITIONS)
            ],
        }
        return frame[:at] + message_bytes(
            message, version, body | {"topics": [others, *body.topics]}
        )

    def answered(self, version: int, frame: bytes) -> bytes:
        """The answer, without the other partitions."""
        [correlation] = struct.unpack_from(">i", frame)
        body = read_response_frame(self._definitions, FETCH, version, frame)
        own = [
            each
            for each in body.responses
            if TOPIC not in each.values() and TOPIC_ID not in each.values()
        ]
        return response_frame(
            self._definitions, FETCH, version, correlation, body | {"responses": own}
        )


LIFE_SECONDS_MAX = 90.0
"""Time limit for a broker to start and register, or to shut down."""


class KraftStage(Stage):
    """Brokers with KRaft, and the harness as their controller."""

    reads_log_at_start = True
    controller: KraftController
    _long_answer: LongAnswer | None = None

    @property
    def quorum(self) -> ScriptedController:
        """Controller that the brokers talk to."""
        return self.controller.quorum

    # Brokers' lives.

    def start_all(self) -> None:
        """Start every broker, until all know each other and serve; from then on the log is held.

        Raises `BrokerFailed`.
        """
        for broker in self.replicas:
            self.brokers.start(broker)
        for broker in self.replicas:
            self._await_caught_up(broker)
        self.quorum.append([self.quorum.fencing(b, is_fenced=False) for b in self.replicas])
        self.quorum.hold_all()
        for broker in self.replicas:
            self.brokers.await_serving(broker)
            self._await_applied(broker, self.quorum.end)

    def register(self, broker: int, *, is_held: bool = False) -> None:
        """Start the process, until it has registered.

        Those that know all decisions hear of it, unless `is_held`.
        """
        informed = [] if is_held else self.controller.informed_brokers()
        self._begin_to_register(broker)
        self._await_registered(broker)
        for each in informed:
            if each != broker:
                self.quorum.reveal(each, self.quorum.broker(broker).epoch + 1)

    def _begin_to_register(self, broker: int) -> None:
        """Start the process, which acts on the log as far as the quorum has it, as in Kafka.

        It does that before it has caught up with its registration. With a log that ends earlier it
        could lead once more in the epoch of its last life, also with an empty disk.
        """
        self.quorum.reveal(broker, self.quorum.end)
        self.quorum.broker(broker).incarnation = None
        self.brokers.start(broker)

    def _await_registered(self, broker: int) -> None:
        known = self.quorum.broker(broker)
        self._await(lambda: known.incarnation is not None, broker, "registers")

    def catch_up(self, broker: int) -> None:
        """The broker reads the log up to its registration, and asks to be unfenced."""
        known = self.quorum.broker(broker)
        with self._checkpoint_kept(broker):
            self.quorum.reveal(broker, known.epoch + 1)
            self._await_caught_up(broker)

    def _await_caught_up(self, broker: int) -> None:
        known = self.quorum.broker(broker)
        self._await(lambda: known.has_caught_up, broker, "catches up with its registration")

    def restart(self, broker: int) -> None:
        """As `Stage.restart`; it is unfenced as well."""
        self.register(broker)
        self.catch_up(broker)
        self.controller.announce([self.quorum.fencing(broker, is_fenced=False)])
        self.brokers.await_serving(broker)

    def await_shutdown_asked(self, broker: int) -> None:
        """Wait until the broker asks the controller whether it may shut down."""
        self._await(lambda: self.quorum.broker(broker).wants_shutdown, broker, "asks to shut down")

    def shut_down(self, broker: int, *, outlives: bool = False) -> None:
        """As `Stage.shut_down`; the controller lets it go."""
        self.quorum.let_shut_down(broker)
        super().shut_down(broker, outlives=outlives)

    # What leaders read late.

    def prepare_late_reads(self) -> None:
        """Announce partitions without a host to every broker; see `LongAnswer`."""
        if self._long_answer is None:
            self._long_answer = LongAnswer(self.quorum.definitions)
            end = self.quorum.create_unhosted_topic(TOPIC, TOPIC_ID, PARTITIONS)
            for broker in self.replicas:
                self.quorum.reveal(broker, end)
            for broker in self.replicas:
                self._await_applied(broker, end)

    def leave_unread(self, follower: int, leader: int) -> None:
        """The records of the answer to the fetch that waits are read when `read_late` is called."""
        assert self._long_answer is not None, "prepare_late_reads comes first"
        self.links[follower, leader].leave_unread(
            self._long_answer.asked, self._long_answer.answered
        )

    # What brokers learn.

    def learn(
        self, broker: int, decision: Decision, alive: Sequence[int], *, outlives: bool = False
    ) -> None:
        """Do as `Stage.learn`; the log says which brokers are alive.

        Refuses outdated requests to change the ISR first: a leader sends one at a time, and others
        would wait for it (DefaultAlterPartitionManager).
        """
        end = self.controller.end_of(decision)
        for asked in self.quorum.asked_by(broker):
            if self.quorum.is_outdated(asked):
                self.quorum.refuse(asked, FENCED_LEADER_EPOCH)
        with self._checkpoint_kept(broker):
            self.quorum.reveal(broker, end)
            self._lose_until_applied(broker, end, decision, outlives=outlives)
        self.brokers.await_serving(broker)
        self.epochs_learned[broker] = decision.epoch
        if broker not in decision.replicas:
            self._await_deleted(broker)

    def _await_deleted(self, broker: int) -> None:
        """Wait until a removed replica has no log. Raises `StepFailed`.

        Its high watermark on disk may stay. It means nothing without a log, and is removed.
        """
        if not wait_until(lambda: not self.brokers.partition(broker).is_dir(), STEP_SECONDS_MAX):
            raise StepFailed(f"r{broker} deletes its log", "it has one still")
        self.write_checkpoint(broker, 0)

    def replay(self, broker: int, epoch: int, isr: Sequence[int]) -> None:
        """Let a leader read the record of an ISR of its epoch after the answer to its request."""
        self._read_up_to(broker, self.controller.end_of_isr(broker, epoch, isr))

    def read_brokers(self, broker: int) -> None:
        """A broker that knows every decision reads what the log has of brokers after those.

        Raises `NotHeld` where there is a decision that it does not know: it would read that first.
        """
        if broker not in self.controller.informed_brokers():
            raise NotHeld(
                f"r{broker} would read a decision on the partition that it does not know yet"
            )
        self._read_up_to(broker, self.quorum.end)

    def _read_up_to(self, broker: int, end: int) -> None:
        """The broker applies the log up to `end`; its fetches stay on their way."""
        with self._checkpoint_kept(broker):
            self.quorum.reveal(broker, end)
            self._await(
                lambda: self.quorum.has_applied(broker, end),
                broker,
                f"applies the metadata log up to {end}",
            )

    def _lose_until_applied(
        self, broker: int, end: int, decision: Decision, *, outlives: bool
    ) -> None:
        deadline = time.monotonic() + STEP_SECONDS_MAX
        while not self.quorum.await_true(
            lambda: self.quorum.has_applied(broker, end), GRACE_SECONDS
        ):
            self.brokers.require(broker)
            self.lose(broker, outlives=outlives)
            if time.monotonic() > deadline:
                applied = self.quorum.broker(broker).applied
                raise StepFailed(
                    f"r{broker} takes up epoch {decision.epoch}",
                    f"it has applied the metadata log up to {applied}, not {end - 1}",
                )

    def forget_topic(self) -> None:
        """As `Stage.forget_topic`. Without one there is nothing to forget."""
        self._drop_requests()
        if not self.controller.decisions:
            return
        for broker in self.replicas:
            if self.brokers.is_up(broker) and self.quorum.broker(broker).wants_shutdown:
                self.shut_down(broker)
        self.quorum.remove_topic()
        down = [broker for broker in self.replicas if not self.brokers.is_up(broker)]
        for broker in down:
            self._begin_to_register(broker)
        for broker in down:
            self._await_registered(broker)
            # There is no decision for it, so that it checkpoints nothing now.
            self.quorum.reveal(broker, self.quorum.broker(broker).epoch + 1)
            self._await_caught_up(broker)
        fenced = [b for b in self.replicas if self.quorum.broker(b).is_fenced]
        if fenced:
            self.quorum.append([self.quorum.fencing(b, is_fenced=False) for b in fenced])
        for broker in self.replicas:
            self.quorum.reveal(broker, self.quorum.end)
            self._await_applied(broker, self.quorum.end)
            self.brokers.await_serving(broker)
        self._drop_requests()
        self.epochs_learned.clear()
        self.sent.clear()
        self.asked.clear()

    def _drop_requests(self) -> None:
        """Drop everything in flight, between brokers or to the controller."""
        for broker in self.replicas:
            for asked in self.quorum.asked_by(broker):
                self.quorum.refuse(asked, FENCED_LEADER_EPOCH)
        for link in self.links.values():
            link.lose()
            link.lose_stray()

    def answer_as_kafka(self) -> None:
        """Do as `Stage.answer_as_kafka`; also unfence a broker that is ready.

        A broker that knows the last epoch hears the rest of the log.
        """
        for broker in self.replicas:
            known = self.quorum.broker(broker)
            if not self.brokers.is_up(broker):
                continue
            if known.is_fenced and known.has_caught_up and not known.wants_shutdown:
                self.controller.announce([self.quorum.fencing(broker, is_fenced=False)])
            for asked in self.quorum.asked_by(broker):
                if asked.answer is None:
                    self._answer_by_rule(asked)
            if self.epochs_learned.get(broker, -1) == self.quorum.partition.leader_epoch:
                self.quorum.reveal(broker, self.quorum.end)

    def _answer_by_rule(self, asked: AlterRequest) -> None:
        code = self.quorum.refusal(asked)
        if code:
            self.quorum.refuse(asked, code)
            return
        now = self.quorum.partition
        elr = [each for each in now.elr if each not in asked.isr]
        self.controller.decide(now.leader, now.leader_epoch, asked.isr, elr, is_recovered=True)
        self.quorum.answer(asked)
        for broker in self.replicas:
            self.quorum.reveal(broker, self.quorum.end)

    # How a wait ends.

    def _await_applied(self, broker: int, end: int) -> None:
        # It may wait for its fetch to come back.
        self._await(
            lambda: self.quorum.has_applied(broker, end),
            broker,
            f"applies the metadata log up to {end}",
            meanwhile=lambda: self.lose(broker),
        )

    def _await(
        self,
        true: Callable[[], bool],
        broker: int,
        what: str,
        *,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """Wait for what a broker says. Raises `BrokerFailed` where it ends, or takes too long."""
        deadline = time.monotonic() + LIFE_SECONDS_MAX
        meanwhile()
        while not self.quorum.await_true(true, GRACE_SECONDS):
            meanwhile()
            self.brokers.require(broker)
            if time.monotonic() > deadline:
                raise BrokerFailed(
                    f"r{broker} {what}: it did not in {LIFE_SECONDS_MAX:.0f} s; "
                    f"{self.brokers.last_lines(broker)}"
                )
