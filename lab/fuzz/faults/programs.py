"""Random programs of faults. A seed is a program: the same one at any time, on any machine."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.fuzz.faults.attempts import Attempt, Signal, Sizes, arguments_of
from lab.fuzz.faults.damage import KINDS, Damage
from lab.fuzz.faults.dying import Death
from lab.fuzz.faults.in_tasks import HOWS, TaskFault
from lab.fuzz.faults.places import STRIKES, Place, Strike

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
_MESSAGE = ("--records", 1, "--epochs", 1)
_ATOMIC = ("--grain", "atomic", "--records", 1, "--log-size", 1)
_HOLDS = ("--invariant", "type_ok")
SHORT: dict[str, tuple[str, ...]] = {
    f"short {number}": arguments_of(*options)
    for number, options in enumerate(
        (
            *(("--protocol", name, *_MESSAGE) for name in ("epoch", "kip279", "kraft")),
            *(("--protocol", name, *_MESSAGE, "--restarts", 1) for name in ("kip320", "kraft")),
            ("--protocol", "elr", *_MESSAGE, "--restarts", 1, "--lost-disks", 1),
            ("--protocol", "hw", *_MESSAGE, "--restarts", 1, "--unclean-leader-election"),
            ("--protocol", "kip320", *_MESSAGE, "--restarts", 1, "--moves", 1),
            *(
                (*_ATOMIC, "--protocol", name, "--replicas", replicas, "--epochs", epochs, *_HOLDS)
                for name in ("hw", "epoch", "kip279", "kip320")
                for replicas, epochs in ((2, 3), (3, 1))
            ),
            *(
                (*_ATOMIC, "--protocol", name, "--replicas", 3, "--epochs", 1, "--symmetry", kind)
                for name, kind in (("hw", "replicas"), ("kip320", "replicas"), ("epoch", "all"))
            ),
        )
    )
}
"""Spaces of few levels, for Spark, which takes longer for each."""
PROBLEMS |= SHORT
_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSTOP)
_SECONDS_MAX = 0.5
_CALLS_MAX = 700
_CALLS_ON_SPARK = 150
_CALLS_OF_A_TASK = 60
_LEVELS_ON_SPARK = 6


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


def program_of(
    seed: int, run: Path, *, places: Sequence[Place] = (), problems: Iterable[str] = PROBLEMS
) -> Program:
    """The program of a seed. Where there are `places` of Spark, some of its attempts are there."""
    drawn = random.Random(f"{seed} {bool(places)}")
    problem = drawn.choice(sorted(problems))
    steps: list[Step] = []
    begins = arguments_of(*PROBLEMS[problem], "--run-dir", run)
    goes_on = arguments_of("--resume", run)
    for number in range(drawn.randint(1, 3 if places else 4)):
        what = begins if number == 0 else goes_on
        if number > 0 and drawn.random() < 0.3:
            steps.append(Damage(drawn.choice(KINDS), drawn.randrange(1 << 30)))
        if number > 0 and not places and drawn.random() < 0.1:
            steps.append(Together((_attempt(drawn, what), _attempt(drawn, what))))
        elif places and drawn.random() < 0.75:
            steps.append(_on_spark(drawn, what, run, places))
        else:
            steps.append(_attempt(drawn, what))
    return Program(seed, problem, tuple(steps))


def in_peace(drawn: random.Random, run: Path) -> Attempt:
    """An attempt that nothing disturbs, to see what the run has come to."""
    return _local(drawn, arguments_of("--resume", run), None, None)


def _attempt(drawn: random.Random, what: tuple[str, ...]) -> Attempt:
    death, sent = None, None
    chosen = drawn.random()
    if chosen < 0.5:
        death = _death(drawn, _CALLS_MAX)
    elif chosen < 0.85:
        sent = _signal(drawn, _SECONDS_MAX)
    else:
        what = arguments_of(*what, *_budget(drawn))
    return _local(drawn, what, death, sent)


def _on_spark(
    drawn: random.Random, what: tuple[str, ...], run: Path, places: Sequence[Place]
) -> Attempt:
    """An attempt at one of the places: its driver, what is beside it, and a task may be hit."""
    place = drawn.choices(places, [place.weight for place in places])[0]
    death, sent, strike, fault, sizes = None, None, None, None, None
    chosen = drawn.random()
    if chosen < 0.25:
        death = _death(drawn, _CALLS_ON_SPARK)
    elif chosen < 0.45:
        sent = _signal(drawn, place.signal_seconds)
    elif chosen < 0.65:
        at, after = int(_CALLS_ON_SPARK ** drawn.random()), round(drawn.uniform(0, 0.3), 3)
        strike = Strike(drawn.choice(STRIKES), at, after, drawn.randrange(1 << 30))
    elif chosen < 0.75:
        what = arguments_of(*what, *_budget(drawn))
    if drawn.random() < 0.5:
        fault = TaskFault(
            drawn.randint(1, _LEVELS_ON_SPARK),
            drawn.randrange(5),
            int(_CALLS_OF_A_TASK ** drawn.random()),
            drawn.choice(HOWS),
            # Spark tries a task four times, and what else is hit may take one of them.
            1 if strike else drawn.randint(1, 3),
        )
    if drawn.random() < 0.7:
        sizes = Sizes(
            2 ** drawn.randint(6, 14), 2 ** drawn.randint(4, 14), int(10 ** drawn.uniform(1, 5))
        )
    options = ["--driver-levels", drawn.choice((0, 6, 9, 11, 12, 13, 14))]
    if drawn.random() < 0.7:
        options += ["--partitions", drawn.randint(1, 5)]
    return Attempt(
        arguments=arguments_of(*what, *options),
        death=death,
        signal=sent,
        place=place,
        sizes=sizes,
        strike=strike,
        fault=fault,
        run=run,
    )


def _death(drawn: random.Random, calls_max: int) -> Death:
    return Death(
        # Early ones are as likely as late ones, of which there are more.
        int(calls_max ** drawn.random()),
        drawn.random() < 0.5,
        drawn.choice(("killed", "killed", "power", "power", "full")),
        drawn.choice(("all", drawn.randrange(1 << 30))),
    )


def _signal(drawn: random.Random, most: float) -> Signal:
    return Signal(drawn.choice(_SIGNALS), round(drawn.uniform(0.01, most), 3))


def _budget(drawn: random.Random) -> tuple[object, ...]:
    depth, states = drawn.randint(0, 30), 10 ** drawn.randint(0, 4)
    return drawn.choice((("--max-depth", depth), ("--max-states", states)))


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
