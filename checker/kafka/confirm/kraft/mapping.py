"""Rows of the table of steps that differ on brokers with KRaft.

The controller's decisions are records of the metadata log. A broker sees them when it learns.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from waterline.checker.kafka.confirm.brokers import OUT_OF_REACH_MS
from waterline.checker.kafka.confirm.kraft.stage import KraftStage
from waterline.checker.kafka.confirm.mapping import (
    TABLE,
    Act,
    Arguments,
    Row,
    keep_in_sync,
    only_on,
    receive,
)
from waterline.checker.kafka.confirm.quorum.controller import INELIGIBLE_REPLICA
from waterline.checker.kafka.confirm.quorum.state import (
    NO_BROKER_EPOCH,
    NO_LEADER,
    AlterRequest,
    Assignment,
    MetadataRecord,
)
from waterline.checker.kafka.confirm.stage import STEP_SECONDS_MAX, NotHeld, Stage, StepFailed
from waterline.model.message.features import ELR, has
from waterline.model.message.terms import GRANTED, NO_ANSWER, REPLAYS_OLDER, contains, with_member

_LOOK_SECONDS = 0.5
_EXTRA_SECONDS = 5.0


def _write(
    stage: KraftStage,
    act: Act,
    beside: Sequence[MetadataRecord] = (),
    *,
    is_recovered: bool = False,
) -> None:
    """Write the controller's decision of this step, if any, with the brokers' records."""
    after = act.after
    stage.controller.decide(
        after.leader if after.leader in stage.replicas else NO_LEADER,
        after.epoch,
        _members(stage, after.isr),
        _members(stage, after.elr),
        _assignment(stage, act),
        beside=beside,
        is_recovered=is_recovered,
        is_held=act.settings.caught_up_wait == 1,
    )


def _members(stage: KraftStage, packed: int) -> list[int]:
    return [each for each in stage.replicas if contains(packed, each)]


def _assignment(stage: KraftStage, act: Act) -> Assignment | None:
    """The replicas after the step, None where they never change."""
    if act.settings.reassignments == 0:
        return None
    sets = (act.after.assigned, act.after.adding, act.after.removing)
    return Assignment(*(tuple(_members(stage, each)) for each in sets))


def _move(stage: KraftStage, act: Act) -> None:
    _write(stage, act)


def _fence(stage: KraftStage, act: Act) -> None:
    _write(stage, act, [stage.quorum.fencing(act.arguments["replica"], is_fenced=True)])


def _unfence(stage: KraftStage, act: Act) -> None:
    _write(stage, act, [stage.quorum.fencing(act.arguments["replica"], is_fenced=False)])


def _restart(stage: KraftStage, act: Act) -> None:
    replica = act.arguments["replica"]
    stage.register(replica, is_held=act.settings.caught_up_wait == 1)
    _require_same_end(stage, act)
    stage.catch_up(replica)
    _unfence(stage, act)
    stage.brokers.await_serving(replica)


def _takes_log_away(s: Any, arguments: Arguments) -> str:
    """Say why a removed replica loses its log earlier than in the model; "" if it does not."""
    replica = arguments["replica"]
    if s.assigned == 0 or contains(s.assigned, replica) or s.leo[replica] == 0:
        return ""
    return f"r{replica} is no replica any more, and takes its log away as it starts"


def _require_same_end(stage: KraftStage, act: Act) -> None:
    """Require the model's kind of last end, clean or not: with ELR the registration reports it."""
    replica = act.arguments["replica"]
    was_clean = stage.quorum.broker(replica).previous_epoch != NO_BROKER_EPOCH
    if has(act.settings, ELR) and was_clean == (act.before.unclean[replica] == 1):
        manner = "after a clean shutdown" if was_clean else "without a clean shutdown"
        raise StepFailed(f"r{replica} registers as the model says of its end", manner)


def _take_directory(stage: Stage, act: Act) -> None:
    replica = act.arguments["replica"]
    if len(stage.brokers.directories(replica)) == 1:
        raise NotHeld(f"r{replica} has one log directory")
    stage.brokers.take_directory(replica)


def _begin_shutdown(stage: KraftStage, act: Act) -> None:
    replica = act.arguments["replica"]
    stage.brokers.ask_to_end(replica)
    stage.await_shutdown_asked(replica)
    _write(stage, act, [stage.quorum.stopping(replica)])


def _shrink_isr(stage: KraftStage, act: Act) -> None:
    leader = act.arguments["leader"]
    wanted = _members(stage, act.after.pending_isr[leader])
    leaving = act.before.known_isr[leader] & ~act.after.pending_isr[leader]
    seconds = 2 * act.lag_ms / 1000 + _EXTRA_SECONDS
    deadline = time.monotonic() + seconds

    def is_asked() -> bool:
        return any(asked.isr == wanted for asked in stage.quorum.asked_by(leader))

    while True:
        keep_in_sync(stage, act.before, besides=leaving)
        if stage.quorum.await_true(is_asked, _LOOK_SECONDS):
            return
        if time.monotonic() > deadline:
            found = ", ".join(str(asked.isr) for asked in stage.quorum.asked_by(leader))
            raise NotHeld(
                f"r{leader} asks for the ISR {found or 'of before'}, not for {wanted}, after "
                f"{seconds:.0f} s: all who lag leave in one request"
            )


def _alter_partition(stage: KraftStage, act: Act) -> None:
    leader = act.arguments["leader"]
    wanted = _members(stage, act.before.pending_isr[leader])
    asked = _await_request(stage, act, leader, wanted)
    completes = _assignment(stage, act) not in {None, stage.quorum.partition.assignment}
    as_asked = act.after.isr != act.before.isr and _members(stage, act.after.isr) == wanted
    is_granted = completes or as_asked
    knew_all = leader in stage.controller.informed_brokers()
    if is_granted:
        _write(stage, act, is_recovered=asked.partition.leader_recovery_state == 0)
    if act.after.answer[leader] == NO_ANSWER:
        _reply(stage, asked, is_granted=is_granted)
        raises_epoch = act.after.epoch != act.before.epoch
        if is_granted and knew_all and act.settings.late_replay == 0 and not raises_epoch:
            # The answer tells the leader as much, unless a smaller ISR raises the epoch, as until
            # 3.5: the leader passes over such an answer, and learns of the epoch later. What comes
            # after it in the log is of brokers, and a leader adds nobody to the ISR whose new
            # registration it has not read.
            stage.quorum.reveal(leader, stage.quorum.end)


def _hear_answer(stage: KraftStage, act: Act) -> None:
    leader = act.arguments["leader"]
    asked = _await_request(stage, act, leader, _members(stage, act.before.pending_isr[leader]))
    _reply(stage, asked, is_granted=act.before.answer[leader] == GRANTED)


def _replay(stage: KraftStage, act: Act) -> None:
    leader = act.arguments["leader"]
    is_older = act.before.replay[leader] == REPLAYS_OLDER
    isr = (act.before.replay_isr if is_older else act.before.known_isr)[leader]
    stage.replay(leader, act.before.known_epoch[leader], _members(stage, isr))
    if act.settings.caught_up_wait == 0 and act.lag_ms < OUT_OF_REACH_MS:
        _wait_for_lag_time(stage, act, silent=0)


def _lag_time_passes(stage: KraftStage, act: Act) -> None:
    _wait_for_lag_time(stage, act, silent=with_member(0, act.arguments["follower"]))


def _learn_brokers(stage: KraftStage, act: Act) -> None:
    stage.read_brokers(act.arguments["leader"])


def _wait_for_lag_time(stage: KraftStage, act: Act, *, silent: int) -> None:
    """The high watermark waits so long for who caught up and is not in the ISR.

    `silent` are the replicas that do not fetch meanwhile, a bit each.
    """
    deadline = time.monotonic() + act.lag_ms / 1000 + _LOOK_SECONDS
    while time.monotonic() < deadline:
        keep_in_sync(stage, act.before, besides=silent)
        time.sleep(_LOOK_SECONDS)


def _await_request(stage: KraftStage, act: Act, leader: int, wanted: Sequence[int]) -> AlterRequest:
    """The leader's request for this ISR. Raises `StepFailed`; `NotHeld` where replicas may lag."""
    if not stage.quorum.await_true(lambda: bool(stage.quorum.asked_by(leader)), STEP_SECONDS_MAX):
        raise StepFailed(f"r{leader} asks for the ISR {wanted}", "it asks for nothing")
    asked = stage.quorum.asked_by(leader)[0]
    if asked.isr != list(wanted):
        if act.lag_ms < OUT_OF_REACH_MS:
            raise NotHeld(
                f"r{leader} asks for the ISR {asked.isr}, having found a follower lagging"
            )
        raise StepFailed(f"r{leader} asks for the ISR {wanted}", f"it asks for {asked.isr}")
    return asked


def _reply(stage: KraftStage, asked: AlterRequest, *, is_granted: bool) -> None:
    if is_granted:
        stage.quorum.answer(asked)
    else:
        stage.quorum.refuse(asked, INELIGIBLE_REPLICA)
    stage.quorum.await_true(
        lambda: asked not in stage.quorum.asked_by(asked.broker), STEP_SECONDS_MAX
    )


def _read_late(stage: KraftStage, act: Act) -> None:
    follower = act.arguments["follower"]
    stage.read_late(follower, act.before.known_leader[follower])


KRAFT_ROWS: dict[str, Row] = {
    "ReadLate": Row(
        "The proxy has not read the answer until now. It also asked for a thousand partitions that "
        "no broker hosts: their errors come first and fill the buffers, so the leader reads the "
        "records from its segment only now. The follower gets the answer without the errors.",
        only_on(KraftStage, _read_late),
    ),
    "RecvDiverging": Row("As RecvFetch: the follower truncates as the answer says.", receive),
    "ShrinkIsr": Row(
        "The harness waits until the leader asks the controller for the ISR without the "
        "follower; others are kept as with ZooKeeper. The request waits. A leader takes out all "
        "who lag in one request: one that is to leave later repeats its last fetch for six "
        "seconds before the record that both miss. If it had not caught up then, the step is not "
        "steerable.",
        only_on(KraftStage, _shrink_isr),
    ),
    "ShrinkTogether": Row(
        "As ShrinkIsr, of several followers: the request must be for the ISR without all of them.",
        only_on(KraftStage, _shrink_isr),
    ),
    "LagTimePasses": Row(
        "The harness waits for replica.lag.time.max.ms, a few seconds in such a trace; the "
        "follower does not fetch meanwhile.",
        only_on(KraftStage, _lag_time_passes),
    ),
    "LearnBrokers": Row(
        "The leader may read the records about brokers after the last decision on the partition. "
        "With caught-up-wait it reads of a fencing, or of its end, no earlier. If it does not know "
        "that decision the step is not steerable: the log has one order.",
        only_on(KraftStage, _learn_brokers),
    ),
    "AlterPartition": Row(
        "The leader's request must be for the ISR that the model has. The controller writes the "
        "new ISR and answers, or refuses (INELIGIBLE_REPLICA); in a trace with late answers the "
        "answer waits. If that completes a reassignment it is the same record, and a leader "
        "that it removes gets NEW_LEADER_ELECTED.",
        only_on(KraftStage, _alter_partition),
    ),
    "AlterAndElect": Row("As AlterPartition.", only_on(KraftStage, _alter_partition)),
    "HearAnswer": Row("The answer goes to the leader.", only_on(KraftStage, _hear_answer)),
    "Replay": Row(
        "The leader may read the metadata log up to the record of that ISR. When a heartbeat says "
        "that it has applied the record, the harness waits for replica.lag.time.max.ms, if it is a "
        "few seconds: so long the high watermark waits for a follower that caught up and is not in "
        "the ISR. With caught-up-wait that is a step of its own, LagTimePasses.",
        only_on(KraftStage, _replay),
    ),
    "Crash": Row(
        "kill -9. The controller fences the broker when the trace does.", TABLE["Crash"].does
    ),
    "DiskLoss": Row(
        "kill -9; then the log directory is emptied, and formatted. The metadata log has one of "
        "its own.",
        TABLE["DiskLoss"].does,
    ),
    "DirectoryTaken": Row(
        "The broker has two log directories; the one that has the log is taken out of log.dirs.",
        _take_directory,
    ),
    "BeginShutdown": Row(
        "SIGTERM. When the broker asks the controller to shut down, the harness writes that record "
        "and the decision. The broker goes on until Stop.",
        only_on(KraftStage, _begin_shutdown),
    ),
    "Stop": Row(
        "The controller answers that the broker may go: it flushes, checkpoints and ends.",
        TABLE["Stop"].does,
    ),
    "Restart": Row(
        "The process is started, and acts on the metadata log as far as it goes, registers, reads "
        "up to its registration, and is unfenced by a record, with what the controller decides "
        "now. With ELR the registration must say, as the model does, whether it was shut down "
        "cleanly. A broker that was removed while it was down deletes its log as it starts, "
        "which in the model is Learn: not steerable.",
        only_on(KraftStage, _restart),
        _takes_log_away,
    ),
    "Fence": Row(
        "Records: the broker is fenced, and the new leader, epoch and ISR. No broker reads them "
        "yet.",
        only_on(KraftStage, _fence),
    ),
    "FenceAndElect": Row("As Fence.", only_on(KraftStage, _fence)),
    "SessionExpiry": Row(
        "As Fence. The broker goes on; the answers to its heartbeats say that it is fenced.",
        only_on(KraftStage, _fence),
    ),
    "Register": Row(
        "A record that ends the fencing, with what the controller decides now.",
        only_on(KraftStage, _unfence),
    ),
    "Move": Row("A record. No broker reads it yet.", only_on(KraftStage, _move)),
    "Reassign": Row(
        "A record of the replicas, those being added and removed, ISR, ELR, and the leader if "
        "there is another epoch; directories are kept, and a new replica has its broker's first "
        "one. No broker reads it yet.",
        only_on(KraftStage, _move),
    ),
    "ReassignAndElect": Row("As Reassign.", only_on(KraftStage, _move)),
    "CancelReassignment": Row("As Reassign.", only_on(KraftStage, _move)),
    "CancelAndElect": Row("As Reassign.", only_on(KraftStage, _move)),
    "CompleteReassignment": Row("With KRaft that is part of AlterPartition, or of Reassign.", None),
    "Learn": Row(
        "The broker may read all of the metadata log; it is over when a heartbeat says that the "
        "log was applied. It applies all that it reads at once as one image, so epochs in between "
        "are skipped. A fetch in flight is lost as with ZooKeeper. A broker that is not a replica "
        "any more must have deleted its log. Its old checkpoint does not fit an empty log: the "
        "harness removes it.",
        TABLE["Learn"].does,
    ),
    "LearnLate": Row(
        "As Learn, with the log up to the last decision of that epoch.", TABLE["LearnLate"].does
    ),
    "OffsetForLeaderEpoch": Row(
        "These brokers truncate by the answer to a fetch, and ask no such question.", None
    ),
}
"""The rows that differ; all others are those of brokers with ZooKeeper."""
