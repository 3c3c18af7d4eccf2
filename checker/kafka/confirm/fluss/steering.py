"""Steps of the model on tablet servers of Fluss.

A request that leaves a server waits in the harness until the model's leader handles it; its answer
waits until the model's follower receives it. The coordinator's decisions are the model's, and a
server hears them as a NotifyLeaderAndIsr. The bucket epoch, which the model does not count, is
counted here.
"""

from __future__ import annotations

from collections.abc import Callable

from waterline.checker.kafka.confirm.fluss.servers import Cluster, HeldRequest
from waterline.counterexamples import Moment
from waterline.model.core.state import State
from waterline.model.message.terms import (
    FETCHING,
    IDLE,
    LEADER,
    NO_EPOCH,
    NO_REPLICA,
    OUT_OF_RANGE,
    TRUNCATING,
    contains,
)

_SEND_MILLISECONDS_MAX = 8_000
"""A follower whose fetch failed waits a second before the next."""
_OF_THE_COORDINATOR = frozenset({"Fence", "FenceAndElect", "SessionExpiry", "Move"})
"""Steps that no tablet server takes part in."""


class NotSteerable(Exception):
    """The harness cannot cause this step, or a server did not do what it waits for."""


class Steering:
    """Takes a trace's steps on a cluster, one after the other."""

    def __init__(self, cluster: Cluster, acks: str) -> None:
        self._cluster = cluster
        self._acks = -1 if acks == "all" else int(acks)
        self._asked: dict[int, HeldRequest] = {}
        self._answers: dict[int, str] = {}
        self._bucket_epoch = 0
        self._steps: dict[str, Callable[[Moment], None]] = {
            "Produce": self._produce,
            "SendFetch": self._send_fetch,
            "LeaderFetch": self._leader_fetch,
            "RecvFetch": self._receive,
            "RecvOutOfRange": self._receive_out_of_range,
            "AlterPartition": self._adjust_isr,
            "ShrinkIsr": self._shrink_isr,
            "ShrinkTogether": self._shrink_isr,
            "Checkpoint": self._checkpoint,
            "Crash": self._crash,
            "Restart": self._restart,
            "Register": self._register,
            "Learn": self._learn,
        }

    def begin(self, state: State) -> None:
        """Everybody learns the first decision."""
        for server in range(state.replicas):
            self._notify(server, state.leader, state.epoch, state.isr)

    def take(self, moment: Moment) -> None:
        """Have the servers do it. Raises `NotSteerable`."""
        if moment.action in self._steps:
            self._steps[moment.action](moment)
        elif moment.action not in _OF_THE_COORDINATOR:
            raise NotSteerable(f"no way to cause {moment.action} on tablet servers of Fluss")
        before, after = moment.before, moment.after
        if (before.leader, before.epoch, before.isr) != (after.leader, after.epoch, after.isr):
            self._bucket_epoch += 1

    def _notify(self, server: int, leader: int, epoch: int, isr: int) -> None:
        members = [str(r) for r in range(self._cluster.size) if contains(isr, r)]
        everyone = map(str, range(self._cluster.size))
        said = self._cluster.of(server).ask(
            *("notify", leader, epoch, self._bucket_epoch, ",".join(members), ",".join(everyone))
        )
        if said != "0":
            raise NotSteerable(f"tablet server {server} refused the notice: error {said}")

    def _produce(self, moment: Moment) -> None:
        [leader] = moment.values
        self._cluster.of(leader).ask("produce", moment.after.produced, self._acks)

    def _send_fetch(self, moment: Moment) -> None:
        [follower] = moment.values
        asked = self._next_fetch(follower)
        if asked.target != moment.before.known_leader[follower]:
            raise NotSteerable(f"tablet server {follower} fetches from {asked.target}")
        self._asked[follower] = asked

    def _next_fetch(self, follower: int) -> HeldRequest:
        if (kept := self._asked.pop(follower, None)) is not None:
            return kept
        return self._next(follower, "FETCH_LOG")

    def _next(self, follower: int, kind: str) -> HeldRequest:
        asked = self._cluster.of(follower).take(kind, _SEND_MILLISECONDS_MAX)
        if asked is None:
            raise NotSteerable(f"tablet server {follower} sent no {kind}")
        return asked

    def _leader_fetch(self, moment: Moment) -> None:
        [follower] = moment.values
        asked = self._asked.pop(follower)
        leader = moment.before.known_leader[follower]
        if not self._cluster.runs(leader):
            self._cluster.of(follower).ask("lose")
            return
        answer = self._cluster.of(leader).ask("serve", "FETCH_LOG", asked.body)
        fetch = moment.after.fetch[follower]
        if fetch in {IDLE, OUT_OF_RANGE}:
            self._cluster.of(follower).ask("answer", asked.number, answer)
        if fetch == OUT_OF_RANGE:
            # The model sends the leader's end along: it is asked for now, and heard later.
            asked = self._next(follower, "LIST_OFFSETS")
            answer = self._cluster.of(leader).ask("serve", asked.kind, asked.body)
        if fetch != IDLE:
            self._asked[follower] = asked
            self._answers[follower] = answer

    def _receive(self, moment: Moment) -> None:
        [follower] = moment.values
        asked = self._asked.pop(follower)
        self._cluster.of(follower).ask("answer", asked.number, self._answers.pop(follower))

    def _receive_out_of_range(self, moment: Moment) -> None:
        """The follower hears the leader's end, asks perhaps for its start, and truncates."""
        [follower] = moment.values
        leader = moment.before.known_leader[follower]
        self._receive(moment)
        process = self._cluster.of(follower)
        while True:
            asked = self._next(follower, "ANY")
            if asked.kind == "FETCH_LOG":
                self._asked[follower] = asked
                return
            answer = self._cluster.of(leader).ask("serve", asked.kind, asked.body)
            process.ask("answer", asked.number, answer)

    def _adjust_isr(self, moment: Moment) -> None:
        [leader] = moment.values
        asked = self._cluster.of(leader).take("ADJUST_ISR", _SEND_MILLISECONDS_MAX)
        if asked is None:
            raise NotSteerable(f"tablet server {leader} asks for no other ISR")
        granted = moment.after.known_isr[leader] == moment.before.pending_isr[leader]
        self._cluster.of(leader).ask("grant", asked.number, "granted" if granted else "refused")

    def _shrink_isr(self, moment: Moment) -> None:
        """Remove all lagging followers at once; the resulting ISR is compared."""
        leader, _ = moment.values
        self._cluster.of(leader).ask("shrink")

    def _checkpoint(self, moment: Moment) -> None:
        [server] = moment.values
        self._cluster.of(server).ask("checkpoint")

    def _crash(self, moment: Moment) -> None:
        [server] = moment.values
        self._forget(server)
        self._cluster.crash(server)
        for follower in filter(self._cluster.runs, range(self._cluster.size)):
            follows = moment.before.role[follower] in {FETCHING, TRUNCATING}
            if follows and moment.before.known_leader[follower] == server:
                self._forget(follower)
                self._cluster.of(follower).ask("lose")

    def _forget(self, server: int) -> None:
        self._asked.pop(server, None)
        self._answers.pop(server, None)

    def _restart(self, moment: Moment) -> None:
        [server] = moment.values
        self._cluster.start(server)
        self._register(moment)

    def _register(self, moment: Moment) -> None:
        """Tell a returning server that no server leads, before the election."""
        [server] = moment.values
        heard = moment.after.known_epoch[server]
        if heard not in {moment.before.known_epoch[server], NO_EPOCH}:
            self._forget(server)
            self._cluster.of(server).ask("lose")
            self._notify(server, NO_REPLICA, heard, moment.before.isr)

    def _learn(self, moment: Moment) -> None:
        [server] = moment.values
        self._forget(server)
        self._cluster.of(server).ask("lose")
        before = moment.before
        self._notify(server, before.leader, before.epoch, before.isr)
        if before.role[server] == LEADER and before.pending_isr[server]:
            # Its request is out of date; until it is answered there is no next one.
            asked = self._cluster.of(server).take("ADJUST_ISR", 0)
            if asked is not None:
                self._cluster.of(server).ask("grant", asked.number, "refused")
