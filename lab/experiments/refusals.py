"""How long a record waits that a refused AlterPartition leaves behind (C43), and what ends it.

    python -m lab.experiments.refusals [--kafka 4.1.0] [--bystander] [--watch 40] [--timeout 30]
                             [--end-by append]

One controller and two brokers under KRaft, with --bystander three, every timeout at Kafka's
default. r1 leads, and asks the controller to add r0, which has just come back; the request waits at
a gate. m1 is appended (acks=all), r0 is killed and fenced, and the controller refuses. The
bystander is in sync all the time, has m1, and goes on fetching. The producer of m1 waits for
--timeout seconds (request.timeout.ms). After --watch seconds, or once it is answered, something is
done:

  repeat  the producer sends m1 once more, as an idempotent one does after request.timeout.ms
  append  another record is appended, with acks=all too
  return  r0 is started again

A line of JSON is printed: what the controller answered, the high watermark, the ISR and m1 before
and after that, and how long it took (seconds).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lab.experiments.command import release_with_kraft
from lab.experiments.real_controller import started_behind_gate
from lab.experiments.refused import LEADER, Refusal
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.stage import PRODUCE_SECONDS_MAX

END_SECONDS_MAX = 60.0


def _repeat(refusal: Refusal) -> None:
    refusal.repeat()


def _append(refusal: Refusal) -> None:
    refusal.cluster.produce(LEADER, b"m2")


def _return(refusal: Refusal) -> None:
    refusal.cluster.start_again(0)


ENDS: dict[str, Callable[[Refusal], None]] = {
    "repeat": _repeat,
    "append": _append,
    "return": _return,
}


def tried(
    kafka: KafkaRelease,
    folder: Path,
    *,
    brokers: int,
    watch_seconds: float,
    timeout_seconds: float,
    end: str,
) -> dict[str, object]:
    """One run, as it is printed."""

    def announce(line: str) -> None:
        print(line, file=sys.stderr)

    jars = class_path(kafka, folder=None, announce=announce)
    with started_behind_gate(folder, kafka, jars, announce, brokers=brokers, timeouts={}) as (
        cluster,
        gate,
    ):
        refusal = Refusal(cluster, gate, timeout_seconds)
        refusal.begin(1)
        refusal.ask_for_follower()
        refusal.produce()
        refusal.fence_follower()
        answer = refusal.answer()
        began = time.monotonic()
        wait_until(lambda: refusal.outcome != "waiting", watch_seconds, every=0.5)
        watched, before = round(time.monotonic() - began, 1), _seen(refusal)
        began = time.monotonic()
        ENDS[end](refusal)
        wait_until(lambda: _seen(refusal)["high_watermark"] != "0", END_SECONDS_MAX)
        took = round(time.monotonic() - began, 1)
        if before["m1"] == "waiting":
            wait_until(lambda: refusal.outcome != "waiting", END_SECONDS_MAX)
        return {
            "kafka": kafka.name,
            "brokers": brokers,
            "answer": answer.upper(),
            "watched": watched,
            "before": before,
            "end": end,
            "took": took,
            "after": _seen(refusal),
        }


def _seen(refusal: Refusal) -> dict[str, object]:
    cluster = refusal.cluster
    return {
        "isr": refusal.led_by()[1],
        "log_ends": [len(cluster.log(broker)) for broker in cluster.replicas],
        "high_watermark": cluster.high_watermark(LEADER),
        "m1": refusal.outcome,
    }


def main() -> None:
    """One run, and its line."""
    parser = argparse.ArgumentParser(description="How long a refused AlterPartition is felt.")
    parser.add_argument("--kafka", default="4.1.0", metavar="VERSION")
    parser.add_argument("--bystander", action="store_true", help="a third broker, in sync")
    parser.add_argument("--watch", type=float, default=40.0, metavar="SECONDS")
    parser.add_argument("--timeout", type=float, default=PRODUCE_SECONDS_MAX, metavar="SECONDS")
    parser.add_argument("--end-by", choices=sorted(ENDS), default="repeat")
    asked = parser.parse_args()
    try:
        kafka = release_with_kraft(asked.kafka)
        with tempfile.TemporaryDirectory(prefix="waterline-refusals-") as folder:
            found = tried(
                kafka,
                Path(folder),
                brokers=3 if asked.bystander else 2,
                watch_seconds=asked.watch,
                timeout_seconds=asked.timeout,
                end=asked.end_by,
            )
    except CannotConfirm as problem:
        sys.exit(str(problem))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
