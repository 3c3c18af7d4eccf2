"""A counterexample replayed on tablet servers of Fluss, compared with the model after each step.

It compares all that the claims read: the leader and its epoch, the log record by record, LEO, high
watermark, the leader's ISR, and the acknowledged records. If all steps agree, the claim is broken
there exactly when it is broken in the model's last state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from waterline.checker.kafka.confirm.errors import BrokerFailed
from waterline.checker.kafka.confirm.fluss.release import FlussRelease
from waterline.checker.kafka.confirm.fluss.servers import Cluster
from waterline.checker.kafka.confirm.fluss.steering import NotSteerable, Steering
from waterline.checker.kafka.confirm.replay import Judgement
from waterline.checker.kafka.families import MESSAGE
from waterline.counterexamples import Moment, Replayed, Trace, follow
from waterline.model.core.claim import Invariant
from waterline.model.core.state import State
from waterline.model.message.terms import LEADER, NO_ROLE, contains

SETTLED_SECONDS_MAX = 10.0
"""Time limit for a server to show what the model says."""


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
        yield Step(moment.number, _sentence(replayed, moment), shown)


def _sentence(replayed: Replayed, moment: Moment) -> str:
    return replayed.narration.sentence(moment.action, moment.values, moment.before, moment.after)


def _await_agreement(
    cluster: Cluster, state: State, acknowledged: dict[int, frozenset[int]]
) -> tuple[str, ...]:
    """Return what the servers show once they agree with the model. Raises `Differs`."""
    for pause in [*cluster.soon(SETTLED_SECONDS_MAX), 0.0]:
        difference, cells = _compare(cluster, state, acknowledged)
        if difference is None:
            return cells
        cluster.wait(pause)
    raise Differs(difference)


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
            told["ISR"] = (shown.isr, _members(state.known_isr[server], state.replicas))
        for name, (real, modelled) in told.items():
            if real != modelled:
                return f"{name} of tablet server {server} is {real}, model {modelled}", ()
    acked = frozenset().union(*acknowledged.values())
    modelled = frozenset(each + 1 for each in _members(state.acked, state.records))
    if acked != modelled:
        return f"acknowledged are {sorted(acked)}, model {sorted(modelled)}", ()
    return None, tuple(cells)


def _members(of: int, size: int) -> tuple[int, ...]:
    return tuple(each for each in range(size) if contains(of, each))
