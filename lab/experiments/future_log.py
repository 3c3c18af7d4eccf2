"""Losses while a broker moves a log from one of its directories to another (KIP-113).

The copy is the future log. It is throttled here, so that it is under way for half a minute.
"""

from __future__ import annotations

import time

from lab.experiments.real_controller import BROKER_CONFIG, RAISED
from lab.experiments.watched import RECORD_BYTES, STEP_SECONDS_MAX, NotReached, Outcome, Watched
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.wire import Pending

SETTINGS = {"alter.log.dirs.replication.quota.window.size.seconds": 3}
"""After a first fetch the copy waits for eleven times as long."""
RAISED_SETTINGS = RAISED | SETTINGS
"""Brokers may stand still, and are neither fenced nor out of the ISR."""
REPORT_SECONDS = 3.0
"""By then a broker has reported where the copy is, or the controller has read it."""
FETCH_SECONDS = 1.0
"""A fetch that waits at a leader (replica.fetch.wait.max.ms, 500) has been answered by then."""
_OBSERVER = 3


def diverging_future_log(seen: Watched, *, is_control: bool) -> Outcome:
    """2 copies b1, truncates it in its log alone, and puts the copy in its place.

    In a control 2 copies nothing. 0 and 1 stand still (SIGSTOP) while the other leads; 3 is asked.
    """
    cluster, seen.ask = seen.cluster, _OBSERVER
    seen.create((0, 1, 2), min_insync_replicas=3)
    seen.produce(0, "m0")
    _lead(seen, 1)
    _lead(seen, 0)
    _throttle_copies(seen, 2)
    cluster.pause(1)
    cluster.pause(2)
    time.sleep(FETCH_SECONDS)
    a1 = _append(seen, 0, "a1")
    seen.show("1 and 2 stand still; 0 has a1")
    cluster.pause(0)
    cluster.resume(1)
    cluster.resume(2)
    _lead(seen, 1)
    b1 = _append(seen, 1, "b1", size=RECORD_BYTES)
    seen.until("0 stands still; 1 and 2 have b1", lambda _: seen.names(2) == ["m0", "b1"])
    if not is_control:
        cluster.move_log(2)
        seen.until(
            "2 has copied b1 to its other directory",
            lambda _: cluster.future_log_bytes(2) > RECORD_BYTES,
        )
    cluster.pause(1)
    _lead(seen, 0)
    cluster.resume(0)
    seen.until("1 stands still; 2 has a1 for b1", lambda _: seen.names(2) == ["m0", "a1"])
    cluster.resume(1)
    answers = {"a1": seen.answered("a1", a1), "b1": seen.answered("b1", b1)}
    seen.show(", ".join(f"{name}: {answer}" for name, answer in answers.items()))
    seen.until("2 has no copy", lambda _: not cluster.future_log_bytes(2))
    _lead(seen, 2)
    return seen.judge(0, 1, 2)


def abandoned_future_log(seen: Watched, *, is_control: bool) -> Outcome:
    """0 reports its copy, and dies before it reads that the controller has taken the report.

    In a control there is more to copy, so that the copy is behind, and not reported.
    """
    cluster = seen.cluster
    seen.create((0,), min_insync_replicas=1)
    seen.produce(0, *(("a0", "a1", "a2") if is_control else ("a0",)), size=RECORD_BYTES)
    _throttle_copies(seen, 0)
    cluster.pause_controller()
    cluster.move_log(0)
    seen.until(
        "the controller stands still; 0 has copied a0 to its other directory",
        lambda _: cluster.future_log_bytes(0) > RECORD_BYTES,
    )
    time.sleep(REPORT_SECONDS)
    seen.produce(0, "b0", "b1", "b2")
    cluster.pause(0)
    cluster.resume_controller()
    time.sleep(REPORT_SECONDS)
    seen.kill(0)
    seen.show("the controller goes on while 0 stands still; 0 is killed (-9)")
    seen.start(0)
    return seen.judge(0)


def _throttle_copies(seen: Watched, broker: int) -> None:
    key = "replica.alter.log.dirs.io.max.bytes.per.second"
    seen.cluster.configure(BROKER_CONFIG, str(broker), key, "100", ask=broker)


def _append(seen: Watched, leader: int, name: str, *, size: int = 0) -> Pending:
    """Send a record until the leader, which may not know yet that it leads, has it in its log."""
    sent = [seen.send(leader, name, size=size)]

    def is_there() -> bool:
        if name in seen.names(leader):
            return True
        if sent[-1].is_over():
            sent.append(seen.send(leader, name, size=size))
        return False

    if not wait_until(is_there, STEP_SECONDS_MAX, every=0.1):
        raise NotReached(f"{leader} appends {name}: it did not come about")
    return sent[-1]


def _lead(seen: Watched, broker: int) -> None:
    """Make the broker preferred, and have the preferred one elected."""
    others = [each for each in (0, 1, 2) if each != broker]
    seen.cluster.prefer(broker, others, ask=seen.ask)
    seen.cluster.elect_preferred(seen.ask)
    seen.until(f"{broker} is elected", lambda now: now.leader == broker)
