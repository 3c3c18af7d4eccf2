"""An environment: how large the cluster is, what may go wrong, and what the operator has set.

Named environments are the ones whose verdicts are documented. Every field is an option of the
command line; the operator's settings carry Kafka's own names there.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from model.kit.errors import BadEnvironment
from model.message.cluster import BUDGET_MAX, LOST_CHECKPOINTS_MAX, RARE_BUDGET_MAX
from model.message.settings import Bounds, Settings
from model.message.terms import (
    ACKS_ALL,
    ACKS_LEADER,
    ACKS_NONE,
    DISK_LOSS_ANY,
    DISK_LOSS_OUT_OF_SYNC,
    ELECT_ANY,
    ELECT_IN_ASSIGNMENT_ORDER,
    UNNOTICED_ANY,
    UNNOTICED_FOLLOWER,
    UNNOTICED_NONE,
)
from model.message.versions import Version

REPLICAS_MAX = 7
RECORDS_MAX = 12
EPOCHS_MAX = 30
ACKS = {"0": ACKS_NONE, "1": ACKS_LEADER, "all": ACKS_ALL}
RESTART_DETECTION = {
    "none": UNNOTICED_NONE,
    "follower": UNNOTICED_FOLLOWER,
    "any": UNNOTICED_ANY,
}
ELECTION_ORDER = {"assignment": ELECT_IN_ASSIGNMENT_ORDER, "any": ELECT_ANY}
DISK_LOSS = {"any": DISK_LOSS_ANY, "out-of-sync": DISK_LOSS_OUT_OF_SYNC}
HW_IN_RESPONSE = {"post": 0, "pre": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The circumstances that a verdict is about; the defaults are the environment `documented`.

    `replicas`, `records`, `epochs` bound the cluster: leader epochs are 0..epochs. `restarts` and
    `moves` are how many process crashes and how many leader moves may happen. `restart_detection`
    is whose restart the controller may miss: none, follower (not its current leader), any.
    `election_order` is who wins of several that may: the first as assigned, or any of them.
    `hw_in_response`: a fetch answer carries the high watermark after (post) or before (pre) that
    very fetch was handled. `parked_fetches`: a fetch with nothing to answer waits at the leader.
    `requests_survive`: a fetch may outlive its sender, or its sender's change of leader.
    `late_metadata`: a decision of the controller may arrive after later ones were made.
    `consumer`: somebody reads. `disk_loss`: whose disk may be lost, anybody's or only that of a
    broker out of sync. The rest are budgets: machines that lose power and with it unflushed
    records, disks and checkpoints that are lost, sessions of live brokers that expire, controlled
    shutdowns.
    """

    replicas: int = 2
    records: int = 2
    epochs: int = 2
    restarts: int = 2
    moves: int = 0
    restart_detection: str = "follower"
    election_order: str = "assignment"
    acks: str = "all"
    min_insync_replicas: int = 1
    unclean_leader_election: bool = False
    hw_in_response: str = "post"
    parked_fetches: bool = False
    requests_survive: bool = False
    late_metadata: bool = False
    consumer: bool = False
    disk_loss: str = "any"
    power_losses: int = 0
    lost_disks: int = 0
    lost_checkpoints: int = 0
    session_expiries: int = 0
    shutdowns: int = 0

    def __post_init__(self) -> None:
        _within("replicas", self.replicas, 1, REPLICAS_MAX)
        _within("records", self.records, 1, RECORDS_MAX)
        _within("epochs", self.epochs, 0, EPOCHS_MAX)
        _within("restarts", self.restarts, 0, BUDGET_MAX)
        _within("moves", self.moves, 0, BUDGET_MAX)
        _within("power-losses", self.power_losses, 0, RARE_BUDGET_MAX)
        _within("lost-disks", self.lost_disks, 0, RARE_BUDGET_MAX)
        _within("lost-checkpoints", self.lost_checkpoints, 0, LOST_CHECKPOINTS_MAX)
        _within("session-expiries", self.session_expiries, 0, RARE_BUDGET_MAX)
        _within("shutdowns", self.shutdowns, 0, RARE_BUDGET_MAX)
        _within("min-insync-replicas", self.min_insync_replicas, 1, REPLICAS_MAX)
        _one_of("restart-detection", self.restart_detection, RESTART_DETECTION)
        _one_of("election-order", self.election_order, ELECTION_ORDER)
        _one_of("acks", self.acks, ACKS)
        _one_of("disk-loss", self.disk_loss, DISK_LOSS)
        _one_of("hw-in-response", self.hw_in_response, HW_IN_RESPONSE)
        if self.min_insync_replicas > self.replicas:
            raise BadEnvironment(
                f"min-insync-replicas is {self.min_insync_replicas}, more than the "
                f"{self.replicas} replicas there are; with acks=all nothing could ever be written"
            )
        if self.election_order == "any" and (self.session_expiries or self.shutdowns):
            raise BadEnvironment(
                "election-order any has a winner to choose only where a dead broker is fenced; "
                "set session-expiries and shutdowns to 0, or leave election-order at assignment"
            )

    @property
    def bounds(self) -> Bounds:
        """What shapes the state."""
        return Bounds(replicas=self.replicas, records=self.records, epochs=self.epochs)

    def settings(self, version: Version) -> Settings:
        """What the rules of `version` read in this environment."""
        return Settings(
            truncation=version.truncation,
            features=version.features,
            acks=ACKS[self.acks],
            min_insync_replicas=self.min_insync_replicas,
            unclean_leader_election=int(self.unclean_leader_election),
            restart_detection=RESTART_DETECTION[self.restart_detection],
            election_order=ELECTION_ORDER[self.election_order],
            high_watermark_before_fetch=HW_IN_RESPONSE[self.hw_in_response],
            parked_fetches=int(self.parked_fetches),
            requests_survive=int(self.requests_survive),
            late_metadata=int(self.late_metadata),
            consumer=int(self.consumer),
            disk_loss=DISK_LOSS[self.disk_loss],
            restarts=self.restarts,
            moves=self.moves,
            power_losses=self.power_losses,
            lost_disks=self.lost_disks,
            lost_checkpoints=self.lost_checkpoints,
            session_expiries=self.session_expiries,
            shutdowns=self.shutdowns,
        )

    def options(self) -> dict[str, object]:
        """Every option by its name on the command line."""
        return {f.name.replace("_", "-"): getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_options(cls, options: dict[str, object]) -> Environment:
        """The inverse of `options`; refuses what it does not know or cannot be."""
        known = {f.name.replace("_", "-"): f for f in fields(cls)}
        values: dict[str, object] = {}
        for name, value in options.items():
            if name not in known:
                raise BadEnvironment(f"unknown option {name!r}; known: {', '.join(known)}")
            wanted = {"int": int, "str": str, "bool": bool}[str(known[name].type)]
            if type(value) is not wanted:
                raise BadEnvironment(f"{name} is {value!r}; it must be of type {wanted.__name__}")
            values[known[name].name] = value
        return cls(**values)  # type: ignore[arg-type]  # checked above, field by field


def _within(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise BadEnvironment(f"{name} is {value}; allowed is {least} to {most}")


def _one_of(name: str, value: str, allowed: dict[str, int]) -> None:
    if value not in allowed:
        raise BadEnvironment(f"{name} is {value!r}; allowed is {', '.join(allowed)}")


DOCUMENTED = Environment()
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
"""The circumstances that have a name; what every version comes to in them is written in
`invariants.expected`.

`documented`: two process crashes, one of them perhaps unnoticed. `adversarial`: everything short of
losing data on disk. `power-loss`, `lost-disk`: one machine loses what it had not flushed, or all of
it, with min.insync.replicas=2. `rolling-restart`: controlled shutdowns and a move back. `zombie`:
live brokers that the controller takes for dead.
"""
