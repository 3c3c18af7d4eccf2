"""Reassignments that lose records, or never end, with a real controller (docs/losses.md).

    python -m lab.experiments.reassignment --kafka 4.4.0 --run replication-factor [--control]

Brokers and controller are as released, with eligible leader replicas and every timeout at its
default. They are asked through the Admin API, killed, shut down and started; nothing is held or
paused, but in the runs about moves of logs (future_log.py). Prints every step with what
describeTopics says of the partition, and the verdict.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.experiments.future_log import (
    RAISED_SETTINGS,
    SETTINGS,
    abandoned_future_log,
    diverging_future_log,
)
from lab.experiments.real_controller import started
from lab.experiments.watched import NotReached, Outcome, Verdict, Watched
from waterline.checker.cli.shared.exit_codes import (
    BAD_USAGE,
    HOLDS,
    INCOMPLETE,
    OF_CONFIRMING,
    UNEXPECTED,
)
from waterline.checker.cli.shared.progress import ending_as_by_ctrl_c
from waterline.checker.kafka.confirm.carrying_out import work_folder
from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm, NoAnswer
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release
from waterline.model.message.releases import ELIGIBLE_LEADER_REPLICAS_USUAL

COPY_SECONDS = 2.0
"""How long a throttled copy goes on before its source goes."""
ASSIGN_SECONDS = 5.0
"""By then a broker has reported the directory of a new log (AssignReplicasToDirs)."""
WATCH_SECONDS = 20.0
"""How long somebody looks at what never comes."""
EXIT_CODES = {
    Verdict.CONFIRMED: OF_CONFIRMING["confirmed"],
    Verdict.HELD: OF_CONFIRMING["held"],
    Verdict.UNDECIDED: OF_CONFIRMING["not-steerable"],
}
_ALL = (0, 1, 2)
_HELP = """\
exit codes:
  0   CONFIRMED: acknowledged records are lost, nobody leads, or no end comes;
      with --expect: as expected
  2   bad usage, no Java, no jars, a broker that does not come up
  3   with --expect: something else
  20  interrupted
  30  HELD: it does not happen on these brokers
  32  UNDECIDED: a step did not come about
"""


def by_replication_factor(seen: Watched, *, is_control: bool) -> Outcome:
    """From three replicas to one and back, partition after partition; one restart of the leader."""
    seen.ask = 1
    seen.create(_ALL, partitions=2)
    seen.fill(0)
    seen.throttle(0)
    seen.reassign({0: [0], 1: [0]})
    seen.until_without_log(1, 2)
    seen.produce(0, "b")
    if is_control:
        seen.reassign({0: _ALL, 1: _ALL})
    else:
        seen.reassign({0: _ALL})
        seen.until("p0 has three replicas in sync", lambda _: len(seen.now(0).isr) == len(_ALL))
        seen.reassign({1: _ALL})
    seen.until("1 and 2 copy p1, throttled", lambda _: all(map(seen.has_log, (1, 2))))
    time.sleep(COPY_SECONDS)
    seen.shut_down(0)
    seen.until("0 has shut down (SIGTERM)", lambda now: now.leader != 0)
    seen.start(0)
    return seen.judge(*_ALL)


def by_cancel(seen: Watched, *, is_control: bool) -> Outcome:
    """A replica is added, in sync, cancelled and added again; then the leader is restarted."""
    _add_and_cancel(seen, is_control=is_control)
    seen.throttle(2)
    seen.reassign({0: [2, 3, 4]})
    seen.until("3 is being added once more, throttled", lambda _: seen.has_log(3))
    time.sleep(COPY_SECONDS)
    seen.shut_down(2)
    seen.until("2 has shut down (SIGTERM)", lambda now: now.leader != 2)
    seen.start(0, 1, 2)
    return seen.judge(0, 1, 2, 3)


def stale_member(seen: Watched, *, is_control: bool) -> Outcome:
    """A replica is added, in sync, cancelled; the leader crashes, and every replica comes back."""
    _add_and_cancel(seen, is_control=is_control)
    seen.kill(2)
    seen.until("2, the leader, is killed (-9)", lambda now: now.leader < 0)
    seen.start(2, 0, 1)
    if wait_until(lambda: seen.now().leader >= 0, WATCH_SECONDS, every=1.0):
        return seen.judge(0, 1, 2)
    seen.show(f"{WATCH_SECONDS:.0f} s later")
    seen.reassign({0: [2, 3, 4]})
    now, has = seen.now(), seen.names(2)
    if now.leader >= 0 or not set(seen.acknowledged) <= set(has):
        return Outcome(Verdict.UNDECIDED, f"2 has {len(has)} records, and {now.leader} leads")
    return Outcome(
        Verdict.CONFIRMED,
        f"every replica is up, 2 has all {len(seen.acknowledged)} acknowledged records, and nobody "
        f"leads: the ELR is {' '.join(map(str, now.elr))}, which is no replica",
    )


def _add_and_cancel(seen: Watched, *, is_control: bool) -> None:
    """2 alone is in sync, and 3 has been, unless in a control. 4 is down all the time."""
    seen.ask = 3
    seen.create((2, 0, 1))
    seen.fill(2)
    seen.kill(0, 1, 4)
    seen.until("0, 1 and 4 are killed (-9)", lambda now: now.isr == (2,))
    seen.produce(2, "refused")
    if is_control:
        return
    seen.reassign({0: [2, 3, 4]})
    seen.until("3 is in sync", lambda now: 3 in now.isr)
    seen.produce(2, "b0", "b1", "b2")
    seen.reassign({0: None})
    seen.until_without_log(3)


def taken_directory(seen: Watched, *, is_control: bool) -> Outcome:
    """A broker shuts down, or (control) is killed, and comes back without one of its disks."""
    seen.create(_ALL)
    seen.fill(0)
    seen.throttle(0)
    seen.kill(2)
    seen.until("2 is killed (-9)", lambda now: 2 not in now.isr)
    if is_control:
        seen.kill(1)
    else:
        seen.shut_down(1)
    how = "is killed (-9)" if is_control else "has shut down (SIGTERM)"
    seen.until(f"1 {how}", lambda now: now.isr == (0,))
    seen.show(f"{seen.cluster.take_directory(1)} is taken out of 1's log.dirs")
    seen.start(1)
    seen.until("1 has a new log in its other directory", lambda _: seen.has_log(1))
    time.sleep(ASSIGN_SECONDS)
    seen.show(f"records: {len(seen.names(0))} in 0, {len(seen.names(1))} in 1")
    seen.ask = 1
    seen.shut_down(0)
    seen.until("0 has shut down (SIGTERM)", lambda now: now.leader != 0)
    seen.start(0, 2)
    return seen.judge(*_ALL)


def overridden(seen: Watched, *, is_control: bool) -> Outcome:
    """3 is to take 2's place; the former replicas are asked for, or (control) it is cancelled."""
    cluster = seen.cluster

    def is_over() -> bool:
        return not cluster.reassignments(seen.ask)

    seen.create(_ALL)
    seen.kill(3)
    seen.until("3 is killed (-9)", lambda _: not cluster.lives(seen.ask, 3))
    seen.reassign({0: [0, 1, 3]})
    seen.reassign({0: None if is_control else _ALL})
    seen.start(3)
    seen.until("the reassignment is over, or 3 in sync", lambda now: is_over() or 3 in now.isr)
    if wait_until(is_over, WATCH_SECONDS, every=1.0):
        return Outcome(Verdict.HELD, "the reassignment has ended")
    seen.show(f"{WATCH_SECONDS:.0f} s later")
    [going_on] = cluster.reassignments(seen.ask)
    adding, removing = list(going_on.adding_replicas), list(going_on.removing_replicas)
    isr = seen.now().isr
    seen.reassign({0: None})
    if not set(isr) >= {0, 1, 2, 3}:
        return Outcome(Verdict.UNDECIDED, "the reassignment goes on, and so does the copy")
    return Outcome(
        Verdict.CONFIRMED,
        f"the reassignment still went on after {WATCH_SECONDS:.0f} s with every replica in sync: "
        f"adding {adding}, removing {removing}; cancelled, it is {'over' if is_over() else 'not'}",
    )


@dataclass(frozen=True, slots=True)
class Run:
    """Steps, and the cluster that they need; `entry` is the scenario of the catalogue, if any."""

    entry: str
    carry_out: Callable[..., Outcome]
    control: str
    brokers: int
    directories: int = 1
    settings: Mapping[str, int] = field(default_factory=dict)


RUNS = {
    "cancel": Run("C55", by_cancel, "3 was never in sync before", brokers=5),
    "replication-factor": Run(
        "C56", by_replication_factor, "both partitions are raised in one request", brokers=3
    ),
    "taken-directory": Run(
        "C57", taken_directory, "1 is killed, not shut down", brokers=3, directories=2
    ),
    "stale-member": Run("C58", stale_member, "3 was never in sync before", brokers=5),
    "overridden": Run("C59", overridden, "it is cancelled", brokers=4),
    "future-log": Run(
        "",
        diverging_future_log,
        "nothing is copied",
        brokers=4,
        directories=2,
        settings=RAISED_SETTINGS,
    ),
    "abandoned-future-log": Run(
        "",
        abandoned_future_log,
        "the copy is behind, and not reported",
        brokers=1,
        directories=2,
        settings=SETTINGS,
    ),
}


def release_with_elr(name: str) -> KafkaRelease:
    """A release whose new clusters have eligible leader replicas. Raises `CannotConfirm`."""
    release = kafka_release(name)
    if not release.has_eligible_leader_replicas or not release.at_least(
        *ELIGIBLE_LEADER_REPLICAS_USUAL
    ):
        usual = ".".join(map(str, ELIGIBLE_LEADER_REPLICAS_USUAL))
        raise CannotConfirm(
            f"--kafka is {name}; these runs need eligible leader replicas, which new clusters "
            f"have from {usual} on: name {usual}.0 or later"
        )
    return release


def carried_out(run: Run, release: KafkaRelease, *, is_control: bool, keep: Path | None) -> Outcome:
    """The run on a cluster of its own. Raises `CannotConfirm` where that does not come up."""
    jars = class_path(release, folder=None, announce=_to_stderr)
    with (
        work_folder(keep) as folder,
        started(
            folder,
            jars,
            _to_stderr,
            timeouts=run.settings,
            brokers=run.brokers,
            directories=run.directories,
        ) as cluster,
    ):
        seen = Watched(cluster, lambda line: print(line, flush=True))
        try:
            return run.carry_out(seen, is_control=is_control)
        except (NotReached, NoAnswer, BrokerFailed) as problem:
            seen.show("it ends here")
            return Outcome(Verdict.UNDECIDED, str(problem))


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out a run as the command line says; the exit code."""
    parser = argparse.ArgumentParser(
        description="Reassignments on real brokers with their own controller.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kafka", default="4.4.0", metavar="RELEASE")
    parser.add_argument("--run", required=True, choices=RUNS)
    parser.add_argument("--control", action="store_true", help="without what loses records")
    parser.add_argument("--expect", choices=[each.value for each in Verdict])
    parser.add_argument("--keep", type=Path, help="a new folder for the brokers' files")
    asked = parser.parse_args(arguments)
    run, began = RUNS[asked.run], time.monotonic()
    try:
        with ending_as_by_ctrl_c():
            release = release_with_elr(asked.kafka)
            control = f", a control ({run.control})" if asked.control else ""
            entry = f" ({run.entry})" if run.entry else ""
            print(f"{asked.run}{entry} on {release.title}{control}\n", flush=True)
            found = carried_out(run, release, is_control=asked.control, keep=asked.keep)
    except CannotConfirm as problem:
        _to_stderr(str(problem))
        return BAD_USAGE
    except KeyboardInterrupt:
        _to_stderr("interrupted")
        return INCOMPLETE
    seconds = time.monotonic() - began
    print(f"\n{found.verdict.name} on {release.title} in {seconds:.0f} s: {found.reason}.")
    if asked.expect is not None:
        return HOLDS if found.verdict.value == asked.expect else UNEXPECTED
    return EXIT_CODES[found.verdict]


def _to_stderr(said: str) -> None:
    print(said, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
