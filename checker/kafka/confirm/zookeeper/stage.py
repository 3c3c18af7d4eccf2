"""Stage with ZooKeeper: brokers learn by UpdateMetadata and LeaderAndIsr (StopReplica)."""

from __future__ import annotations

from collections.abc import Sequence

from waterline.checker.kafka.confirm.decisions import Decision
from waterline.checker.kafka.confirm.stage import GRACE_SECONDS, Stage, StepFailed
from waterline.checker.kafka.confirm.wire import error_name
from waterline.checker.kafka.confirm.zookeeper.brokers import ZookeeperBrokers
from waterline.checker.kafka.confirm.zookeeper.controller import ZookeeperController


class ZookeeperStage(Stage):
    """Brokers with ZooKeeper, and the harness as their controller."""

    brokers: ZookeeperBrokers
    controller: ZookeeperController

    def _forget(self, broker: int, *, outlives: bool = False) -> None:
        super()._forget(broker, outlives=outlives)
        self.controller.end_session(broker)

    def restart(self, broker: int) -> None:
        """As `Stage.restart`."""
        self.brokers.start(broker)
        self.brokers.await_registered(broker, self.controller)

    def forget_topic(self) -> None:
        """As `Stage.forget_topic`."""
        down = [broker for broker in self.replicas if not self.brokers.is_up(broker)]
        for broker in down:
            self.brokers.start(broker)
        for broker in down:
            self.brokers.await_registered(broker, self.controller)
        for link in self.links.values():
            link.lose()
            link.lose_stray()
        for broker in self.epochs_learned:
            self.stop_replica(broker, delete=True)
        self.epochs_learned.clear()
        self.sent.clear()
        self.asked.clear()

    def learn(
        self, broker: int, decision: Decision, alive: Sequence[int], *, outlives: bool = False
    ) -> None:
        """As `Stage.learn`."""
        port = self.brokers.ports[broker]
        ports = self._ports_seen_by(broker, alive)
        self.controller.update_metadata(port, decision, ports)
        with self._checkpoint_kept(broker):
            pending = self.controller.lead_or_follow(port, decision, ports)
            while not pending.is_over(GRACE_SECONDS):
                self.lose(broker, outlives=outlives)
        if pending.problem is not None:
            raise StepFailed(f"r{broker} takes up epoch {decision.epoch}", str(pending.problem))
        codes = [
            pending.answer.error_code,
            *(p.error_code for p in pending.answer.partition_errors),
        ]
        for code in codes:
            if code:
                raise StepFailed(f"r{broker} takes up epoch {decision.epoch}", error_name(code))
        self.epochs_learned[broker] = decision.epoch

    def report_alive(self, alive: Sequence[int]) -> None:
        """Brokers that know the partition hear who lives, and of it what they know already."""
        for broker, epoch in self.epochs_learned.items():
            decision = self.controller.decisions[epoch]
            ports = self._ports_seen_by(broker, sorted({*alive, broker}))
            self.controller.update_metadata(self.brokers.ports[broker], decision, ports)

    def _ports_seen_by(self, broker: int, alive: Sequence[int]) -> dict[int, int]:
        """Where a broker is to find those that live: itself, and the others behind their links."""
        own = self.brokers.ports[broker]
        return {each: own if each == broker else self.links[broker, each].port for each in alive}

    def stop_replica(self, broker: int, *, delete: bool = False) -> None:
        """A follower is to fetch no more; or, with `delete`, any broker to forget the partition."""
        pending = self.controller.stop_replica(self.brokers.ports[broker], delete=delete)
        while not pending.is_over(GRACE_SECONDS):
            self.lose(broker)
        self.lose(broker)
