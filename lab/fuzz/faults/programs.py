"""Random programs of faults. A seed is a program: the same one at any time, on any machine."""

from __future__ import annotations

import random
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.fuzz.faults.attempts import Attempt, Signal, arguments_of
from lab.fuzz.faults.damage import KINDS, Damage
from lab.fuzz.faults.dying import Death

PROBLEMS: dict[str, tuple[str, ...]] = {
    "hw": arguments_of("--protocol", "hw"),
    "epoch": arguments_of("--protocol", "epoch"),
    "kip320": arguments_of("--protocol", "kip320", "--restarts", 1, "--moves", 1),
    "elr": arguments_of("--protocol", "elr", "--restarts", 1, "--lost-disks", 1),
    "unfenced": arguments_of("--protocol", "hw", "--unclean-leader-election", "--restarts", 1),
    "atomic": arguments_of("--grain", "atomic", "--protocol", "kip320", "--replicas", 2),
    "symmetric": arguments_of(
        *("--grain", "atomic", "--protocol", "hw", "--replicas", 2, "--symmetry", "all")
    ),
}
"""Small spaces of different kinds: with violations and without, of one and of several words."""
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP)
_SECONDS_MAX = 0.5
_CALLS_MAX = 700


@dataclass(frozen=True, slots=True)
class Together:
    """Two attempts at the same time: one must say that the other is there."""

    attempts: tuple[Attempt, Attempt]

    def __str__(self) -> str:
        return " TOGETHER WITH ".join(map(str, self.attempts))


Step = Attempt | Together | Damage


@dataclass(frozen=True, slots=True)
class Program:
    """The attempts at one run. `problem` is a key of `PROBLEMS`; the last step is in peace."""

    seed: int
    problem: str
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        text = "".join(f"\n    {number}. {step}" for number, step in enumerate(self.steps, 1))
        return f"seed {self.seed}, {self.problem}{text}"


def program_of(seed: int, run: Path, *, masters: Sequence[str] = ()) -> Program:
    """The program of a seed. Where there are `masters`, some of its attempts are on one of them."""
    drawn = random.Random(f"{seed} {bool(masters)}")
    problem = drawn.choice(list(PROBLEMS))
    steps: list[Step] = []
    begins = arguments_of(*PROBLEMS[problem], "--run-dir", run)
    goes_on = arguments_of("--resume", run)
    for number in range(drawn.randint(1, 4)):
        what = begins if number == 0 else goes_on
        if number > 0 and drawn.random() < 0.3:
            steps.append(Damage(drawn.choice(KINDS), drawn.randrange(1 << 30)))
        if number > 0 and not masters and drawn.random() < 0.1:
            steps.append(Together((_attempt(drawn, what), _attempt(drawn, what))))
        else:
            on_spark = masters and drawn.random() < 0.6
            steps.append(_attempt(drawn, what, drawn.choice(masters) if on_spark else None))
    return Program(seed, problem, tuple(steps))


def in_peace(drawn: random.Random, run: Path) -> Attempt:
    """An attempt that nothing disturbs, to see what the run has come to."""
    return _local(drawn, arguments_of("--resume", run), None, None)


def _attempt(drawn: random.Random, what: tuple[str, ...], master: str | None = None) -> Attempt:
    death, sent = None, None
    chosen = drawn.random()
    if chosen < 0.5:
        death = Death(
            # Early ones are as likely as late ones, of which there are more.
            int(_CALLS_MAX ** drawn.random()),
            drawn.random() < 0.5,
            drawn.choice(("killed", "killed", "power", "power", "full")),
            drawn.choice(("all", drawn.randrange(1 << 30))),
        )
    elif chosen < 0.85:
        most = 12.0 if master else _SECONDS_MAX
        sent = Signal(drawn.choice(_SIGNALS), round(drawn.uniform(0.01, most), 3))
    else:
        depth, states = drawn.randint(0, 30), 10 ** drawn.randint(0, 4)
        budget = drawn.choice((("--max-depth", depth), ("--max-states", states)))
        what = arguments_of(*what, *budget)
    if not master:
        return _local(drawn, what, death, sent)
    options = ["--master", master, "--driver-levels", drawn.choice((0, 3, 8, 15))]
    if drawn.random() < 0.7:
        options += ["--partitions", drawn.randint(1, 5)]
    return Attempt(arguments=arguments_of(*what, *options), death=death, signal=sent)


def _local(
    drawn: random.Random, what: tuple[str, ...], death: Death | None, sent: Signal | None
) -> Attempt:
    options: list[object] = ["--engine", "local", "--threads", drawn.randint(1, 2)]
    files_from = None
    if drawn.random() < 0.6:
        files_from = int(20_000 ** drawn.random())
        if drawn.random() < 0.8:
            options += ["--partitions", drawn.randint(1, 9)]
    return Attempt(
        arguments=arguments_of(*what, *options), death=death, signal=sent, files_from=files_from
    )
