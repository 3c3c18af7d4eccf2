"""Topic set-up before the first step, and clean-up after the last."""

from __future__ import annotations

from collections.abc import Mapping

from waterline.checker.kafka.confirm.stage import Stage


def begin(stage: Stage, topic: str, settings: Mapping[str, str], assigned: int = 0) -> None:
    """A new topic with these settings, and nothing of the one before.

    Broker 0 leads in epoch 0, and everybody knows it; the first `assigned` brokers are replicas,
    all of them for 0, and have fetched once. The first fetch tells the leader that the follower's
    log is empty, as the model begins. Raises `StepFailed`, and `NotHeld` with ZooKeeper where some
    broker has no replica.
    """
    replicas = stage.replicas[: assigned or None]
    for link in stage.links.values():
        link.hold()
    stage.forget_topic()
    stage.brokers.topic = stage.controller.topic = topic
    stage.controller.create_topic(0, settings, replicas)
    decision = stage.controller.current()
    for broker in stage.replicas:
        stage.learn(broker, decision, stage.replicas)
    for follower in replicas[1:]:
        while stage.ask_epoch(follower, 0):
            pass
        stage.leader_fetch(follower, 0)
        stage.receive(follower, 0)


def heal(stage: Stage, leader: int) -> None:
    """Let everything pass, start who is down, and tell everybody the last decision.

    Until the leader and its followers have nothing to do any more. Raises `StepFailed`.
    """
    for link in stage.links.values():
        link.lose()
        link.open()
    for broker in stage.replicas:
        if not stage.brokers.is_up(broker):
            stage.restart(broker)
    decision = stage.controller.current()
    order = [leader, *(broker for broker in stage.replicas if broker != leader)]
    for broker in order:
        if stage.epochs_learned.get(broker, -1) < decision.epoch:
            stage.learn(broker, decision, stage.replicas)
