"""An environment: how large the cluster is, what may go wrong, and what the operator has set.

The fields of `Environment` are the one table of sizes, settings and faults; all else follows from
it (`model.message.declared`). Named environments are the ones whose verdicts are documented. The
operator's settings carry Kafka's own names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from waterline.model.core.errors import BadEnvironment
from waterline.model.message.bounds import Bounds
from waterline.model.message.contradictions import require_consistent
from waterline.model.message.declared import (
    abstraction,
    budget,
    choice,
    declared_in,
    number,
    option_of,
    size,
    switch,
)
from waterline.model.message.terms import (
    ACKS_ALL,
    ACKS_LEADER,
    ACKS_NONE,
    BOOK_AT_ONCE,
    BOOK_BY_EPOCH,
    BOOK_BY_ID,
    BOOK_BY_REPLICA,
    DISK_LOSS_ANY,
    DISK_LOSS_OUT_OF_SYNC,
    ELECT_ANY,
    ELECT_IN_ASSIGNMENT_ORDER,
    UNNOTICED_ANY,
    UNNOTICED_FOLLOWER,
    UNNOTICED_NONE,
)

REPLICAS_MAX = 7
RECORDS_MAX = 12
EPOCHS_MAX = 30
BUDGET_MAX = 15
"""Largest budget of crashes or of moves."""
COUNTED = frozenset({"power_losses", "lost_disks", "lost_checkpoints", "taken_directories"})
"""The budgets that `unbounded` keeps: what disks lose. Beyond them Kafka promises nothing."""
RARE_BUDGET_MAX = 3
"""Largest budget of the faults that are rarer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The circumstances that a verdict is about; the defaults are the environment `documented`.

    Each field is an option of the command line, and its sentence the option's help.
    """

    replicas: int = size(2, 1, REPLICAS_MAX, "Replicas of the partition.")
    records: int = size(2, 1, RECORDS_MAX, "Records that may be produced.")
    epochs: int = size(2, 0, EPOCHS_MAX, "Highest leader epoch, from 0.")
    assigned: int = size(
        0,
        0,
        REPLICAS_MAX,
        "With reassignments: of the brokers, which --replicas counts, as many are replicas at "
        "first; 0: all.",
        only_with="reassignments",
    )
    restarts: int = budget(
        2,
        BUDGET_MAX,
        "Process crashes that may happen.",
        "Crash",
        so_far="Process crashes",
        one="crash",
        many="crashes",
        description="The process of {who} crashes: HW {hw} in memory is gone; "
        "checkpoint {checkpoint} and log (LEO {leo}) stay",
        never="no broker ever crashes",
        loses="memory: HW, role, fetches. The page cache survives, and with it the log",
        who_knows="the controller at once, later, or never: `--restart-detection`",
        always=True,
        takes_down=True,
    )
    moves: int = budget(
        0,
        BUDGET_MAX,
        "Leader moves without a fault that may happen.",
        "Move",
        so_far="Leader moves",
        one="move",
        many="moves",
        never="leadership never moves",
        loses="nothing",
        who_knows="brokers, each when it learns",
        always=True,
    )
    restart_detection: str = choice(
        "follower",
        {"none": UNNOTICED_NONE, "follower": UNNOTICED_FOLLOWER, "any": UNNOTICED_ANY},
        "Whose restart the controller may miss: nobody's, that of a broker other than its leader, "
        "anybody's.",
    )
    election_order: str = choice(
        "assignment",
        {"assignment": ELECT_IN_ASSIGNMENT_ORDER, "any": ELECT_ANY},
        "Which of several candidates is elected: the first replica as assigned, or any.",
        steps=("FenceAndElect",),
        steps_where="any",
    )
    acks: str = choice(
        "all",
        {"0": ACKS_NONE, "1": ACKS_LEADER, "all": ACKS_ALL},
        "What producers wait for.",
    )
    min_insync_replicas: int = number(1, 1, REPLICAS_MAX, "min.insync.replicas of the topic.")
    controller_min_insync_replicas: int = number(
        0, 0, REPLICAS_MAX, "min.insync.replicas as the controller has it; 0: as the brokers do."
    )
    first_partition_replicas: int = number(
        0,
        0,
        REPLICAS_MAX,
        "With reassignments: the replicas of the topic's partition 0, where this is another one; "
        "0: this is partition 0.",
        only_with="reassignments",
    )
    unclean_leader_election: bool = switch("unclean.leader.election.enable of the topic.")
    hw_in_response: str = choice(
        "post",
        {"post": 0, "pre": 1},
        "HW in a fetch answer: after that fetch was handled, or before.",
        setting="high_watermark_before_fetch",
    )
    parked_fetches: bool = switch(
        "A fetch with nothing to answer waits at the leader (purgatory).", "WakeParked"
    )
    requests_survive: bool = switch(
        "A fetch may arrive after its sender has crashed or follows somebody else.",
        "StrayFetch",
        "LoseStray",
    )
    late_metadata: bool = switch(
        "A broker may learn a decision of the controller after later ones were made.", "LearnLate"
    )
    unfenced_registration: bool = switch(
        "Under KRaft a broker that has crashed may register again before it was fenced."
    )
    late_answers: bool = switch(
        "The controller's answer to AlterPartition is a message: the leader hears it later.",
        "HearAnswer",
    )
    caught_up_wait: bool = switch(
        "The high watermark waits also for who caught up lately, outside the ISR.",
        "LagTimePasses",
        "LearnBrokers",
    )
    late_replay: bool = switch(
        "Under KRaft a leader replays the record of a granted change of the ISR after it has heard "
        "the answer.",
        "Replay",
    )
    late_reads: bool = switch(
        "The records of a fetch answer are read from the leader's file when they are sent.",
        "ReadLate",
    )
    late_booking: str = choice(
        "off",
        {
            "off": BOOK_AT_ONCE,
            "by-replica": BOOK_BY_REPLICA,
            "by-id": BOOK_BY_ID,
            "by-epoch": BOOK_BY_EPOCH,
        },
        "A leader may check a fetch, and take note of its offset later: in the Replica object of "
        "the check (since 3.3), in the one that the follower's id has then (until 3.2), or only "
        "in the same epoch (a repair, in no Kafka).",
        steps=("CheckFetch", "BookFetch"),
    )
    consumer: bool = switch("A consumer reads what is committed.", "Consume")
    unbounded: bool = abstraction(
        False,
        "Any number of epochs, produced records, crashes, moves, directory moves, session expiries "
        "and shutdowns; --records is how many a log has at one time.",
    )
    settled: bool = abstraction(
        True,
        "With unbounded: what all replicas have for good is cut off, all but the last record of "
        "it; --records is the rest. Not with lost disks or checkpoints, or unclean elections.",
    )
    disk_loss: str = choice(
        "any",
        {"any": DISK_LOSS_ANY, "out-of-sync": DISK_LOSS_OUT_OF_SYNC},
        "Whose disk may be lost: anybody's, or only that of a broker outside the ISR.",
    )
    power_losses: int = budget(
        0,
        RARE_BUDGET_MAX,
        "Machines that lose power, and with it records that are not on disk yet.",
        "PowerLoss",
        so_far="Power losses",
        one="power loss",
        many="power losses",
        description="The machine of {who} loses power before its log is on disk, "
        "{removed}; LEO {leo}",
        never="no machine ever loses power",
        loses="memory, and any suffix of the log above `durable`. Kafka acknowledges before it "
        "flushes",
        who_knows="as of a crash",
        takes_down=True,
        takes_records=True,
        row=("power loss", "One machine loses what was not on its disk yet."),
    )
    lost_disks: int = budget(
        0,
        RARE_BUDGET_MAX,
        "Disks that are lost; the broker comes back with an empty one.",
        "DiskLoss",
        so_far="Lost disks",
        one="lost disk",
        many="lost disks",
        description="The disk of {who} is lost, {removed}; an empty one takes its place",
        never="no disk is ever lost",
        loses="memory, the whole log, the checkpoint. The broker comes back empty, under its own "
        "name. `--disk-loss`: whose",
        who_knows="as of a crash",
        takes_down=True,
        takes_records=True,
        row=("lost disk", "Some broker loses its disk."),
    )
    lost_checkpoints: int = budget(
        0,
        1,
        "Files with the high watermark that are lost while their broker is down.",
        "CheckpointLoss",
        so_far="Lost checkpoints",
        one="lost checkpoint",
        many="lost checkpoints",
        description="{r} is down and loses its replication-offset-checkpoint, "
        "which said {checkpoint}",
        never="no checkpoint is ever lost",
        loses="the HW on disk of a broker that is down: it comes back with HW 0",
        who_knows="nobody",
    )
    directory_moves: int = budget(
        0,
        RARE_BUDGET_MAX,
        "Logs that are moved to another log directory of their broker.",
        "DirectoryMove",
        so_far="Logs moved between directories",
        one="directory move",
        many="directory moves",
        never="no log is ever moved to another directory",
        loses="the entry of an epoch without records in the epoch cache; `durable`, since the copy "
        "is not flushed. KAFKA-20961",
        who_knows="nobody",
    )
    future_log: bool = switch(
        "A directory move is made step by step: the future log is a log of its own, which is "
        "copied and then takes the log's place.",
        "StartFutureLog",
        "CopyFutureLog",
        "TruncateFutureLog",
        "AssignDirectory",
        "PromoteFutureLog",
        only_with="directory_moves",
    )
    failed_directories: int = budget(
        0,
        RARE_BUDGET_MAX,
        "Log directories with a replica that fail while their broker runs on.",
        "DirectoryFailure",
        so_far="Log directories that failed",
        one="failed directory",
        many="failed directories",
        description="The log directory of {who} fails; the broker serves the partition no more "
        "until it is started again",
        never="no log directory ever fails",
        loses="memory, as a crash; log and HW are on disk. The broker runs on for all other "
        "partitions",
        who_knows="as of a crash",
        takes_down=True,
    )
    min_isr_writes: int = budget(
        0,
        RARE_BUDGET_MAX,
        "Times that min.insync.replicas is written with the value that it has, while the "
        "controller has an ELR.",
        "WriteMinIsr",
        so_far="Writes of min.insync.replicas",
        one="write of min.insync.replicas",
        many="writes of min.insync.replicas",
        never="min.insync.replicas is never written",
        loses="nothing; the controller empties the ELR and forgets the last known leader",
        who_knows="the controller",
    )
    taken_directories: int = budget(
        0,
        RARE_BUDGET_MAX,
        "Log directories with a replica that are taken out of a broker that has shut down.",
        "DirectoryTaken",
        so_far="Log directories taken out",
        one="taken directory",
        many="taken directories",
        description="{r} is down; the log directory with its replica is taken out of log.dirs, "
        "{removed}; its other directories say that it has shut down properly",
        never="no log directory is ever taken out",
        loses="the log and the checkpoint of a broker that has shut down. Its other log "
        "directories say that it did so properly",
        who_knows="nobody",
        takes_records=True,
    )
    reassignments: int = budget(
        0,
        RARE_BUDGET_MAX,
        "Reassignments that the operator begins, to any brokers; each may be cancelled.",
        "Reassign",
        "CancelReassignment",
        so_far="Reassignments",
        one="reassignment",
        many="reassignments",
        never="replicas are never reassigned",
        loses="the log of a broker that is no replica any more, once it learns that",
        who_knows="brokers, each when it learns",
    )
    session_expiries: int = budget(
        0,
        RARE_BUDGET_MAX,
        "Live brokers that the controller takes for dead.",
        "SessionExpiry",
        "Register",
        so_far="Expiries of a live broker's session",
        one="session expiry",
        many="session expiries",
        description="The session of {who} expires although it runs, and it does not know",
        never="no session ever expires",
        loses="nothing; the broker may go on leading, as a zombie",
        who_knows="the controller alone, until the broker registers again",
    )
    shutdowns: int = budget(
        0,
        RARE_BUDGET_MAX,
        "Controlled shutdowns.",
        "BeginShutdown",
        "Stop",
        so_far="Controlled shutdowns",
        one="shutdown",
        many="shutdowns",
        never="no broker is ever shut down",
        loses="nothing; log and HW are on disk",
        who_knows="the controller, before it happens",
        takes_down=True,
    )

    def __post_init__(self) -> None:
        for name, declared in DECLARED.items():
            declared.require(option_of(name), getattr(self, name))
            if getattr(self, name) and declared.only_with and not getattr(self, declared.only_with):
                needed = option_of(declared.only_with)
                raise BadEnvironment(
                    f"{option_of(name)} is {getattr(self, name)}, and {needed} is 0, without which "
                    f"it means nothing; set {needed}, or leave {option_of(name)} out"
                )
        require_consistent(self)

    @property
    def is_cut(self) -> bool:
        """True if a settled prefix is cut off: no high watermark falls back to an offset below it.

        It does after the loss of a disk, a directory or a checkpoint, after the removal of a
        replica, and, before 2.4, under a new leader whose high watermark is beyond its log. With
        unclean elections 23 steps lead there. No part of a log that has been moved to another
        directory is known to be on disk, so a power loss may take all of it.
        """
        falls_back = self.lost_disks > 0 or self.lost_checkpoints > 0
        falls_back = falls_back or self.taken_directories > 0 or self.reassignments > 0
        falls_back = falls_back or (self.directory_moves > 0 and self.power_losses > 0)
        falls_back = falls_back or self.unclean_leader_election
        return self.unbounded and self.settled and not falls_back

    @property
    def bounds(self) -> Bounds:
        """Bounds that shape the state."""
        return Bounds(
            replicas=self.replicas,
            records=self.records,
            epochs=self.epochs,
            late_answers=self.late_answers,
            caught_up_wait=self.caught_up_wait,
            late_booking=self.late_booking != "off",
            late_replay=self.late_replay,
            directory_moves=self.directory_moves > 0,
            future_log=self.future_log,
            failed_directories=self.failed_directories > 0,
            min_isr_writes=self.min_isr_writes > 0,
            reassignments=self.reassignments > 0,
            taken_directories=self.taken_directories > 0,
            unbounded=self.unbounded,
            cut=self.is_cut,
        )

    def options(self) -> dict[str, object]:
        """Every option by its name on the command line."""
        return {option_of(name): getattr(self, name) for name in DECLARED}

    @classmethod
    def from_options(cls, options: dict[str, object]) -> Environment:
        """The inverse of `options`; refuses what it does not know or cannot be."""
        known = {option_of(name): name for name in DECLARED}
        values: dict[str, object] = {}
        for name, value in options.items():
            if name not in known:
                raise BadEnvironment(f"unknown option {name!r}; known: {', '.join(known)}")
            wanted = type(getattr(_DEFAULTS, known[name]))
            if type(value) is not wanted:
                raise BadEnvironment(f"{name} is {value!r}; it must be of type {wanted.__name__}")
            values[known[name]] = value
        return cls(**values)  # type: ignore[arg-type]  # checked above, field by field


DECLARED = declared_in(Environment)
"""Every size, setting and fault by name, in the order of their display."""
FAULTS = {name: d.fault for name, d in DECLARED.items() if d.fault is not None}
"""The faults by the name of their budget."""
UNCOUNTED = tuple(name for name in FAULTS if name not in COUNTED)
"""The budgets of faults that may happen any number of times without bounds."""
_DEFAULTS = DOCUMENTED = Environment()


def without_bounds(options: Mapping[str, object]) -> dict[str, object]:
    """Return these options without bounds: a possible fault has the budget 1, for any number."""
    once = {name: 1 for name in map(option_of, UNCOUNTED) if options.get(name)}
    return {**options, **once, "unbounded": True}


ENVIRONMENTS = {
    "documented": DOCUMENTED,
    "adversarial": Environment(
        epochs=3,
        restarts=1,
        moves=2,
        session_expiries=1,
        requests_survive=True,
        late_metadata=True,
    ),
    "power-loss": Environment(epochs=3, restarts=1, power_losses=1, min_insync_replicas=2),
    "lost-disk": Environment(
        epochs=3, restarts=1, lost_disks=1, min_insync_replicas=2, requests_survive=True
    ),
    "rolling-restart": Environment(epochs=3, restarts=0, shutdowns=2, moves=1),
    "zombie": Environment(
        epochs=3,
        restarts=0,
        moves=1,
        session_expiries=2,
        requests_survive=True,
        late_metadata=True,
    ),
}
"""Named circumstances; `invariants.expected` has the result of every version in them.

`documented`: two process crashes, one of them perhaps unnoticed. `adversarial`: everything short of
losing data on disk. `power-loss`, `lost-disk`: one machine loses what it had not flushed, or all of
it, with min.insync.replicas=2. `rolling-restart`: controlled shutdowns and a move back. `zombie`:
live brokers that the controller takes for dead."""
