"""Mapping of each model step to acts on real brokers, or the reason why there is none.

A step that Kafka takes as several, or several that it takes as one, is carried out here as one. The
table is that of brokers with ZooKeeper; `kraft.mapping` has the rows that are others with KRaft.
Both are shown in docs/confirm.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from waterline.checker.kafka.confirm.decisions import Decision
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.stage import NotHeld, Stage
from waterline.checker.kafka.confirm.wire import FETCH, Request
from waterline.checker.kafka.confirm.zookeeper import ZookeeperStage
from waterline.model.core.state import State
from waterline.model.message.roles import follows
from waterline.model.message.settings import Settings
from waterline.model.message.terms import IDLE, LEADER, NO_REPLICA, REQUESTED, contains, with_member


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One step of a trace: its arguments, and the model's states before and after it."""

    arguments: Mapping[str, int]
    before: State
    after: State
    settings: Settings
    acks: str
    lag_ms: int


Arguments = Mapping[str, int]


Does = Callable[[Stage, Act], None]
AnyStage = TypeVar("AnyStage", bound=Stage)


def only_on(kind: type[AnyStage], does: Callable[[AnyStage, Act], None]) -> Does:
    """Restrict a step's function to stages of one kind."""

    def do_on_kind(stage: Stage, act: Act) -> None:
        assert isinstance(stage, kind)
        does(stage, act)

    return do_on_kind


@dataclass(frozen=True, slots=True)
class Row:
    """How real brokers take a step: `does` it, as `description` says.

    Without `does`, `description` is the reason.

    `unless` says why the step cannot be had in a state, "" if it can; None if it always can.
    """

    description: str
    does: Does | None
    unless: Callable[[State, Arguments], str] | None = None


def _produce(stage: Stage, act: Act) -> None:
    stage.produce(act.arguments["leader"], act.after.produced, act.acks)


def _send_fetch(stage: Stage, act: Act) -> None:
    follower = act.arguments["follower"]
    offset, epoch = act.before.leo[follower], act.before.known_epoch[follower]

    def wrong(request: Request) -> str:
        if request.key != FETCH:
            return "a question about its epoch"
        asked = request.body.topics[0].partitions[0]
        carried = getattr(asked, "current_leader_epoch", epoch)
        if (asked.fetch_offset, carried) != (offset, epoch):
            return f"a fetch from {asked.fetch_offset} in epoch {carried}"
        return ""

    stage.send_fetch(follower, act.before.known_leader[follower], wrong)


def _leader_fetch(stage: Stage, act: Act) -> None:
    follower = act.arguments["follower"]
    leader = act.before.known_leader[follower]
    answer = stage.leader_fetch(follower, leader)
    if answer is None:
        if not stage.is_unread(follower, leader):
            stage.sent.discard(follower)
    elif act.after.fetch[follower] == IDLE and answer.responses[0].partitions[0].error_code:
        stage.receive_refusal(follower, leader)


def receive(stage: Stage, act: Act) -> None:
    """The follower takes what its leader has answered, and asks again."""
    follower = act.arguments["follower"]
    stage.receive(follower, act.before.known_leader[follower])


def _asks_later(s: Any, arguments: Arguments) -> str:
    """Why the leader's log end is not the one in the answer: the follower asks for it once more."""
    follower = arguments["follower"]
    leader = s.known_leader[follower]
    if s.role[leader] == LEADER and s.leo[leader] == s.answer_offset[follower]:
        return ""
    return (
        f"r{follower} asks r{leader} for the end of its log only now, and that is not "
        f"{s.answer_offset[follower]} any more"
    )


def _receive_out_of_range(stage: Stage, act: Act) -> None:
    follower = act.arguments["follower"]
    if act.after.up[follower] == 1:
        stage.receive(follower, act.before.known_leader[follower])
    else:
        stage.receive_and_exit(follower, act.before.known_leader[follower])


def _ask_epoch(stage: Stage, act: Act) -> None:
    follower = act.arguments["follower"]
    stage.ask_epoch(follower, act.before.known_leader[follower])


def _stray_fetch(stage: Stage, act: Act) -> None:
    link = stage.links[act.before.stray_from, act.before.stray_to]
    if link.deliver_stray() is None:
        raise NotHeld("the request that was to outlive its sender got no answer")


def _lose_stray(stage: Stage, act: Act) -> None:
    stage.links[act.before.stray_from, act.before.stray_to].lose_stray()


def _shrink_isr(stage: Stage, act: Act) -> None:
    gone = act.arguments["follower"]
    seconds = 2 * act.lag_ms / 1000 + 5

    def is_gone() -> bool:
        keep_in_sync(stage, act.before, besides=with_member(0, gone))
        return gone not in stage.controller.current().isr

    if not wait_until(is_gone, seconds, every=0.5):
        raise NotHeld(f"the leader has r{gone} in the ISR after {seconds:.0f} s still")


def keep_in_sync(stage: Stage, s: Any, *, besides: int = 0) -> None:
    """Repeat the last fetch of each caught-up follower that its leader has in sync.

    With a short replica.lag.time.max.ms it would leave the ISR while its next request waits. The
    model has no such step. `besides` is the bit set of the followers that are to leave.
    """
    for leader in stage.replicas:
        if s.role[leader] != LEADER:
            continue
        for follower in stage.replicas:
            if follower == leader or contains(besides, follower):
                continue
            if not contains(s.known_isr[leader], follower):
                continue
            if s.remote_leo[leader, follower] == s.leo[leader]:
                stage.repeat_fetch(follower, leader, s.leo[leader], s.known_epoch[leader])


def _checkpoint(stage: Stage, act: Act) -> None:
    replica = act.arguments["replica"]
    stage.write_checkpoint(replica, act.before.hw[replica])


def _crash(stage: Stage, act: Act) -> None:
    replica = act.arguments["replica"]
    stage.kill(replica, outlives=outlives(act, replica))


def outlives(act: Act, replica: int) -> bool:
    """True if the replica's fetch may reach its leader although the replica waits no longer."""
    s = act.before
    if act.settings.requests_survive == 0 or s.stray_from != NO_REPLICA:
        return False
    return follows(s, replica) and s.fetch[replica] == REQUESTED


def _lose_power(stage: Stage, act: Act) -> None:
    replica = act.arguments["replica"]
    stage.kill(replica, outlives=outlives(act, replica))
    stage.brokers.cut(replica, act.arguments["end"])


def _lose_disk(stage: Stage, act: Act) -> None:
    replica = act.arguments["replica"]
    stage.kill(replica, outlives=outlives(act, replica))
    stage.brokers.empty_disk(replica)


def _lose_checkpoint(stage: Stage, act: Act) -> None:
    stage.brokers.checkpoint_file(act.arguments["replica"]).unlink(missing_ok=True)


def _move_directory(stage: Stage, act: Act) -> None:
    stage.move_directory(act.arguments["replica"])


def _begin_shutdown(stage: ZookeeperStage, act: Act) -> None:
    replica = act.arguments["replica"]
    _decide(stage, act)
    if follows(act.before, replica) and act.before.fetch[replica] == IDLE:
        stage.stop_replica(replica)


def _stop(stage: Stage, act: Act) -> None:
    replica = act.arguments["replica"]
    stage.shut_down(replica, outlives=outlives(act, replica))


def _restart(stage: ZookeeperStage, act: Act) -> None:
    stage.restart(act.arguments["replica"])
    _come_back(stage, act)


def _come_back(stage: ZookeeperStage, act: Act) -> None:
    """Brokers that know the partition hear that the broker lives, as from the real controller."""
    _decide(stage, act)
    stage.report_alive(alive_in(stage, act.after))


def alive_in(stage: Stage, s: Any) -> list[int]:
    """Return the brokers that the controller takes to be alive."""
    return [each for each in stage.replicas if not contains(s.fenced, each)]


def _decide(stage: ZookeeperStage, act: Act) -> None:
    """Write what the controller decides in this step, if that is anything."""
    decided = (act.after.leader, act.after.epoch, act.after.isr)
    if decided != (act.before.leader, act.before.epoch, act.before.isr):
        members = [each for each in stage.replicas if contains(act.after.isr, each)]
        stage.controller.decide(act.after.leader, act.after.epoch, members)


def _learn(stage: Stage, act: Act) -> None:
    _take_up(stage, act, stage.controller.current(), alive_in(stage, act.before))


def _learn_late(stage: Stage, act: Act) -> None:
    decision = stage.controller.decisions[act.arguments["epoch"]]
    # It is what the controller said then, when that leader was alive.
    _take_up(stage, act, decision, sorted({*alive_in(stage, act.before), decision.leader}))


def _take_up(stage: Stage, act: Act, decision: Decision, alive: Sequence[int]) -> None:
    replica = act.arguments["replica"]
    may_outlive = outlives(act, replica)
    stage.learn(replica, decision, alive, outlives=may_outlive)
    if not follows(act.after, replica) or act.after.fetch[replica] == IDLE:
        stage.lose(replica, outlives=may_outlive)


def _consume(stage: Stage, act: Act) -> None:
    """Do nothing: records are read at the end."""


TABLE: dict[str, Row] = {
    "Produce": Row(
        "A Produce request with one record and the trace's acks. It is over when the record is in "
        "the leader's segment; the answer is waited for in the background.",
        _produce,
    ),
    "SendFetch": Row(
        "Nothing is done: the follower asks by itself, and its request waits at the proxy. From "
        "this step on it counts as sent. One that waits there from before the follower's last "
        "change is lost by breaking its connection, so that the follower asks anew.",
        _send_fetch,
    ),
    "LeaderFetch": Row(
        "The proxy lets the request through and holds the answer. An error goes back at once: the "
        "follower will ask again.",
        _leader_fetch,
    ),
    "CheckFetch": Row(
        "Nothing outside a broker can hold it between the check of a fetch and its note of the "
        "offset.",
        None,
    ),
    "BookFetch": Row("As CheckFetch.", None),
    "WakeParked": Row(
        "A leader's purgatory completes a fetch when it likes; nothing outside can hold that.", None
    ),
    "ReadLate": Row(
        "The answer to a fetch fits into the buffers, so that all of it is read when it is sent. "
        "Under KRaft it is made longer.",
        None,
    ),
    "RecvFetch": Row(
        "The proxy lets the answer through. It is over when the follower's next request waits.",
        receive,
    ),
    "RecvOutOfRange": Row(
        "As RecvFetch. The follower's question for the leader's offsets passes freely; it must "
        "find the log end that is in the answer. Where the process is to exit, it is over when the "
        "broker serves no client any more; then it is killed (0.10 hangs in its own exit).",
        _receive_out_of_range,
        _asks_later,
    ),
    "RecvDiverging": Row(
        "Brokers are made to speak the protocol of 2.6 at most, in which no answer says so.", None
    ),
    "StrayFetch": Row(
        "The request that was lost to its sender reaches the leader on a connection of its own. "
        "Its answer goes nowhere.",
        _stray_fetch,
    ),
    "LoseStray": Row("The proxy forgets that request.", _lose_stray),
    "ShrinkIsr": Row(
        "The harness waits until the leader has taken the follower out, "
        "replica.lag.time.max.ms being a few seconds in such a trace. Followers that are to stay "
        "are kept: their last fetch is repeated, if it had reached the end of the log. One that "
        "leaves before its step makes the rest not steerable. Several that leave step after step "
        "leave at once, and brokers are looked at after the last.",
        _shrink_isr,
    ),
    "ShrinkTogether": Row("As AlterPartition.", None),
    "LagTimePasses": Row("No broker shows which replica its high watermark waits for.", None),
    "LearnBrokers": Row("As LagTimePasses.", None),
    "AlterPartition": Row(
        "A leader cannot ask the harness to change the ISR, as it is not a broker; brokers are "
        "made to speak the protocol of 2.6 at most, and write it to ZooKeeper.",
        None,
    ),
    "AlterAndElect": Row("As AlterPartition.", None),
    "HearAnswer": Row("As AlterPartition.", None),
    "Replay": Row("With ZooKeeper there is no metadata log.", None),
    "Checkpoint": Row(
        "The harness writes the high watermark that the broker has shown into its "
        "replication-offset-checkpoint, as the broker's own thread would, whose interval is out "
        "of reach.",
        _checkpoint,
    ),
    "Crash": Row("kill -9. Its node in ZooKeeper goes at once, not when the session ends.", _crash),
    "PowerLoss": Row(
        "kill -9; then the segment is cut at the record, as if the rest had not been on disk. "
        "Indexes are removed: the broker makes them anew.",
        _lose_power,
    ),
    "DiskLoss": Row("kill -9; then the log directory is emptied.", _lose_disk),
    "CheckpointLoss": Row("The file replication-offset-checkpoint is removed.", _lose_checkpoint),
    "DirectoryTaken": Row("The harness gives no broker a log directory to spare.", None),
    "DirectoryMove": Row(
        "AlterReplicaLogDirs to the broker's other log directory. It is over when the log is "
        "there.",
        _move_directory,
    ),
    "StartFutureLog": Row(
        "A broker's own thread copies at once; the harness cannot hold it.", None
    ),
    "CopyFutureLog": Row("As StartFutureLog.", None),
    "TruncateFutureLog": Row("As StartFutureLog.", None),
    "AssignDirectory": Row("As StartFutureLog.", None),
    "PromoteFutureLog": Row("As StartFutureLog.", None),
    "DirectoryFailure": Row("As DirectoryTaken.", None),
    "WriteMinIsr": Row("The harness, which is the controller, keeps no ELR of its own.", None),
    "BeginShutdown": Row(
        "The harness decides as the controller would, and tells a follower to fetch no more "
        "(StopReplica), but not one whose fetch is on its way: it may still be answered, and the "
        "next waits. The broker's own request to the controller is switched off.",
        only_on(ZookeeperStage, _begin_shutdown),
    ),
    "Stop": Row("SIGTERM: the broker flushes, checkpoints and ends.", _stop),
    "MarkClean": Row(
        "Where a broker of today ends during its recovery it leaves no mark, and the ones that "
        "did had no eligible leader replicas, which go by it.",
        None,
    ),
    "Restart": Row(
        "The process is started and registers. If the controller elects a leader now, the harness "
        "writes that. Brokers that know the partition hear who lives (UpdateMetadata).",
        only_on(ZookeeperStage, _restart),
    ),
    "Fence": Row(
        "The harness writes the new leader, epoch and ISR to ZooKeeper. No broker learns of it.",
        only_on(ZookeeperStage, _decide),
    ),
    "FenceAndElect": Row("As Fence.", only_on(ZookeeperStage, _decide)),
    "SessionExpiry": Row(
        "As Fence. The broker keeps its real session, which only the controller looks at.",
        only_on(ZookeeperStage, _decide),
    ),
    "Register": Row(
        "As Fence, if the controller elects a leader now. Brokers that know the partition hear who "
        "lives (UpdateMetadata).",
        only_on(ZookeeperStage, _come_back),
    ),
    "Move": Row("As Fence.", only_on(ZookeeperStage, _decide)),
    "Reassign": Row("The harness, which is the controller, writes no change of replicas.", None),
    "ReassignAndElect": Row("As Reassign.", None),
    "CancelReassignment": Row("As Reassign.", None),
    "CancelAndElect": Row("As Reassign.", None),
    "CompleteReassignment": Row("As Reassign.", None),
    "Learn": Row(
        "UpdateMetadata and LeaderAndIsr to that broker alone, with a proxy's port for every "
        "other. A fetch that the change makes void is lost by breaking its connection: brokers "
        "wait for it before they answer.",
        _learn,
    ),
    "LearnLate": Row("As Learn, with the decision of that epoch as it was.", _learn_late),
    "OffsetForLeaderEpoch": Row(
        "The proxy lets question and answer through. It is over when the follower's next request "
        "waits. A follower that knows no epoch asks nothing.",
        _ask_epoch,
    ),
    "Consume": Row("Nothing is done: a consumer reads at the end.", _consume),
}
"""Every action of `model.message.contents.ACTIONS`."""
