"""A counterexample replayed on tablet servers of Fluss, compared with the model after each step.

A request that leaves a server waits in the harness until the model's leader handles it; its answer
waits until the model's follower receives it. The coordinator's decisions are the model's, and a
server hears them as a NotifyLeaderAndIsr. The bucket epoch, which the model does not count, is
counted here.

The harness compares all that the claims read: the leader and its epoch, the log record by record,
LEO, high watermark, the leader's ISR, and the acknowledged records. If all steps agree, the claim
is broken there exactly when it is broken in the model's last state.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm
from waterline.checker.kafka.confirm.fluss.servers import Cluster, HeldRequest
from waterline.checker.kafka.confirm.replay import Judgement
from waterline.checker.kafka.families import MESSAGE
from waterline.counterexamples import Moment, Replayed, Trace, follow
from waterline.counterexamples.style import BAD, GOOD, TITLE, WARNING, columns
from waterline.model.core.claim import Invariant
from waterline.model.core.state import State
from waterline.model.message.fluss import RELEASES, fluss_release
from waterline.model.message.narration.phrases import members_of
from waterline.model.message.releases import UnknownRelease
from waterline.model.message.terms import (
    FETCHING,
    IDLE,
    LEADER,
    NO_EPOCH,
    NO_REPLICA,
    NO_ROLE,
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


_STEERED = ("0.9.1",)
"""Releases whose classes the Java code in this folder was compiled and run against."""


@dataclass(frozen=True, slots=True)
class FlussRelease:
    """`version` as in the registry; `rules` is the model's version that describes it."""

    version: str
    rules: str
    product: str = "Fluss"

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Maven coordinates: one jar that holds all that it needs."""
        return (f"org.apache.fluss:fluss-server:{self.version}",)

    @property
    def title(self) -> str:
        """`Fluss 0.9.1-incubating`."""
        return f"{self.product} {self.version}"


def steered_release(text: str) -> FlussRelease:
    """The release `0.9.1`, with or without `-incubating`. Raises `CannotConfirm`."""
    number = text.removesuffix("-incubating")
    if number not in _STEERED:
        known = " or ".join(_STEERED)
        why = "its jars are not published" if number in RELEASES else "its rules were not looked up"
        raise CannotConfirm(f"--fluss {text}: {why}, or it was not steered yet; give {known}")
    try:
        return FlussRelease(f"{number}-incubating", fluss_release(number).name)
    except UnknownRelease as problem:
        raise CannotConfirm(f"--fluss: {problem}") from None


SETTLED_SECONDS_MAX = 10.0
"""Time limit for a server to show what the model says."""
_LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Step:
    """A step taken: its sentence, and LEO and high watermark that each server shows, "" if down."""

    number: int
    sentence: str
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OnFluss:
    """Judgement of a replay, with the reason and the steps."""

    judgement: Judgement
    reason: str
    steps: tuple[Step, ...]


class Differs(Exception):
    """A server shows something else than the model."""


def replay_on_fluss(
    trace: Trace, release: FlussRelease, folder: Path, class_path: list[Path]
) -> OnFluss:
    """Take the trace's choices under the release's rules, on its tablet servers too.

    Raises `CannotConfirm` where they cannot be had, and `BadEnvironment` for a trace of no model
    here.
    """
    problem = MESSAGE.problem(release.rules, trace.environment, [trace.invariant])
    model = problem.model
    claim = next(each for each in problem.invariants if each.name == trace.invariant)
    followed = follow(trace, model)
    if followed.refusal is not None:
        return OnFluss(Judgement.NOT_STEERABLE, f"{release.rules}: {followed.refusal}", ())
    replayed = followed.replayed
    steps: list[Step] = []
    number = 0
    try:
        with Cluster(
            folder,
            class_path,
            servers=replayed.initial.replicas,
            min_insync_replicas=model.settings.min_insync_replicas,
        ) as cluster:
            for step in _take_steps(cluster, replayed, str(trace.environment["acks"])):
                steps.append(step)
                number = step.number
    except Differs as found:
        reason = f"step {number + 1}: {found}"
        return OnFluss(Judgement.REFUTED, reason, tuple(steps))
    except (NotSteerable, BrokerFailed) as found:
        reason = f"step {number + 1}: {found}"
        return OnFluss(Judgement.NOT_STEERABLE, reason, tuple(steps))
    last = replayed.states[-1]
    if claim.holds(last, model.settings):
        reason = f"{claim.name} is not broken by these steps: {release.rules} has other rules"
        return OnFluss(Judgement.HELD, reason, tuple(steps))
    said = claim.explain(last, model.settings) if isinstance(claim, Invariant) else ""
    return OnFluss(Judgement.CONFIRMED, said.rstrip("."), tuple(steps))


def _take_steps(cluster: Cluster, replayed: Replayed, acks: str) -> Iterator[Step]:
    steering = Steering(cluster, acks)
    steering.begin(replayed.initial)
    acknowledged: dict[int, frozenset[int]] = {}
    for moment in replayed.moments:
        steering.take(moment)
        shown = _await_agreement(cluster, moment.after, acknowledged)
        yield Step(moment.number, moment.sentence(replayed.narration), shown)


def _await_agreement(
    cluster: Cluster, state: State, acknowledged: dict[int, frozenset[int]]
) -> tuple[str, ...]:
    """Return what the servers show once they agree with the model. Raises `Differs`."""
    end = time.monotonic() + SETTLED_SECONDS_MAX
    while True:
        difference, cells = _compare(cluster, state, acknowledged)
        if difference is None:
            return cells
        if time.monotonic() > end:
            raise Differs(difference)
        time.sleep(_LOOK_SECONDS)


def _compare(
    cluster: Cluster, state: State, acknowledged: dict[int, frozenset[int]]
) -> tuple[str | None, tuple[str, ...]]:
    cells = []
    for server in range(state.replicas):
        if not cluster.runs(server) or state.role[server] == NO_ROLE:
            cells.append("")
            continue
        shown = cluster.show(server)
        acknowledged[server] = acknowledged.get(server, frozenset()) | shown.acked
        cells.append(f"{shown.leo}/{shown.hw}")
        leads = bool(state.role[server] == LEADER)
        told = {
            "leads": (shown.leads, leads),
            "epoch": (shown.epoch, int(state.known_epoch[server])),
            "LEO": (shown.leo, int(state.leo[server])),
            "HW": (shown.hw, int(state.hw[server])),
            "log": (shown.log, tuple(int(state.log[server, o]) for o in range(state.leo[server]))),
        }
        if leads:
            told["ISR"] = (shown.isr, members_of(state.known_isr[server], state.replicas))
        for name, (real, modelled) in told.items():
            if real != modelled:
                return f"{name} of tablet server {server} is {real}, model {modelled}", ()
    acked = frozenset().union(*acknowledged.values())
    modelled = frozenset(each + 1 for each in members_of(state.acked, state.records))
    if acked != modelled:
        return f"acknowledged are {sorted(acked)}, model {sorted(modelled)}", ()
    return None, tuple(cells)


_STYLES = {Judgement.CONFIRMED: BAD, Judgement.HELD: GOOD}


def render_on_fluss(found: OnFluss, trace: Trace, release: FlussRelease) -> RenderableType:
    """The steps with what the servers showed after each, and the judgement."""
    title = Text.assemble(
        (f"{trace.invariant} under {trace.version}", "bold"),
        ", on tablet servers of ",
        (release.title, "bold"),
    )
    verdict = Text.assemble(
        (found.judgement.value, _STYLES.get(found.judgement, WARNING)),
        f" on {release.title}: {found.reason}.",
    )
    return Group(title, _steps(found), Text(), verdict)


def _steps(found: OnFluss) -> Table:
    table = columns(gap=1, header=TITLE)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Step", overflow="fold")
    for server in range(len(found.steps[0].shown) if found.steps else 0):
        table.add_column(f"r{server}\nLEO/HW", no_wrap=True)
    for step in found.steps:
        table.add_row(f"{step.number}.", step.sentence, *step.shown)
    return table
