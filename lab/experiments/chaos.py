"""Faults at random for two minutes: the logs of a cluster that nobody steers.

    python -m lab.experiments.chaos --keep FOLDER [--kafka 4.2.0] [--seconds 120] [--seed 1]

One controller, three brokers, a producer with acks=all. Pauses, kills and preferred elections come
at random, by the seed; how brokers come out of them is theirs. Prints a line of JSON: what was
done, how many records were acknowledged, and which of them no consumer reads at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab.experiments.command import release_with_kraft
from lab.experiments.real_controller import KraftCluster, started
from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm, NoAnswer
from waterline.checker.kafka.confirm.evidence import consume
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.stage import describe_answer
from waterline.checker.kafka.confirm.wire import Pending

BEATS_PER_SECOND = 2
FAULT_CHANCE = 0.25
PAUSE_SECONDS = (0.5, 3.0)
DOWN_SECONDS = (1.0, 6.0)
END_SECONDS_MAX = 60.0


@dataclass(slots=True)
class _Chaos:
    cluster: KraftCluster
    chance: random.Random
    done: list[str] = field(default_factory=list)
    sent: list[tuple[str, Pending]] = field(default_factory=list)
    back_at: dict[int, tuple[float, str]] = field(default_factory=dict)

    def beat(self) -> None:
        """One moment: who is to come back does, a record is sent, perhaps something goes wrong."""
        now = time.monotonic()
        for broker, (at, how) in list(self.back_at.items()):
            if at <= now:
                self._back(broker, how)
        self._produce()
        if self.chance.random() < FAULT_CHANCE:
            with contextlib.suppress(NoAnswer, BrokerFailed, CannotConfirm):
                self._fault(now)

    def _fault(self, now: float) -> None:
        well = [broker for broker in self.cluster.replicas if broker not in self.back_at]
        kind = self.chance.choice(("pause", "pause", "kill", "elect", "elect"))
        if kind == "elect" and well:
            broker = self.chance.choice(well)
            self.cluster.prefer(broker, [b for b in range(3) if b != broker], ask=well[0])
            self.cluster.elect_preferred(well[0])
        elif len(well) > 1:
            broker = self.chance.choice(well)
            if kind == "pause":
                self.cluster.pause(broker)
                self.back_at[broker] = (now + self.chance.uniform(*PAUSE_SECONDS), kind)
            else:
                self.cluster.kill(broker)
                self.back_at[broker] = (now + self.chance.uniform(*DOWN_SECONDS), kind)
        else:
            return
        self.done.append(f"{kind} {broker}")

    def _back(self, broker: int, how: str) -> None:
        del self.back_at[broker]
        if how == "pause":
            self.cluster.resume(broker)
        else:
            self.cluster.start_again(broker)

    def _produce(self) -> None:
        well = [broker for broker in self.cluster.replicas if broker not in self.back_at]
        for broker in well[:1]:
            with contextlib.suppress(NoAnswer, CannotConfirm):
                leader, _ = self.cluster.leader_and_isr(broker)
                if leader in well:
                    name = f"m{len(self.sent) + 1}"
                    self.sent.append((name, self.cluster.produce(leader, name.encode())))

    def ended(self) -> dict[str, object]:
        """All brokers up again; what a consumer reads.

        It is asked until it has read all that was acknowledged: a leader that has just been elected
        shows no more than up to its high watermark, which follows.
        """
        for broker, (_, how) in list(self.back_at.items()):
            self._back(broker, how)
        acknowledged = {n for n, sent in self.sent if describe_answer(sent) == "acknowledged"}
        read: list[str] = []
        has_healed = False

        def is_read() -> bool:
            nonlocal read, has_healed
            with contextlib.suppress(NoAnswer, CannotConfirm):
                leader, isr = self.cluster.leader_and_isr(0)
                if len(isr) == len(self.cluster.replicas):
                    read, has_healed = consume(self.cluster.ports[leader]), True
            return has_healed and acknowledged <= set(read)

        wait_until(is_read, END_SECONDS_MAX, every=1.0)
        return {
            "healed": has_healed,
            "sent": len(self.sent),
            "acknowledged": len(acknowledged),
            "lost": sorted(acknowledged - set(read)) if has_healed else None,
            "done": self.done,
        }


def main() -> None:
    """Run it once."""
    parser = argparse.ArgumentParser(description="Faults at random, and the logs kept.")
    parser.add_argument("--kafka", default="4.2.0")
    parser.add_argument("--keep", type=Path, required=True, help="a folder for the brokers' files")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    try:
        release = release_with_kraft(asked.kafka)
        jars = class_path(release, folder=None, announce=_to_stderr)
        asked.keep.mkdir(parents=True, exist_ok=True)
        with started(asked.keep, jars, _to_stderr, timeouts={}) as cluster:
            cluster.create_topic([0, 1, 2], 2)
            chaos = _Chaos(cluster, random.Random(asked.seed))
            until = time.monotonic() + asked.seconds
            while time.monotonic() < until:
                chaos.beat()
                time.sleep(1 / BEATS_PER_SECOND)
            print(json.dumps(chaos.ended() | {"seed": asked.seed, "kafka": asked.kafka}))
    except CannotConfirm as problem:
        sys.exit(str(problem))


def _to_stderr(said: str) -> None:
    print(said, file=sys.stderr)


if __name__ == "__main__":
    main()
