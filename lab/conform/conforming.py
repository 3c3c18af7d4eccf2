"""Plan of `lab.conform`: which walks, and their summary."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.conform.aiming import plan_goals
from lab.conform.circumstances import CIRCUMSTANCES, Circumstances
from lab.conform.conformance import Conformance, Disagreement, begin
from lab.conform.figures import Figures
from lab.conform.grounds import (
    Grounds,
    Round,
    shortest,
    trace_of_walk,
    walk_along,
    walk_by_chance,
    walk_to_outcomes,
)
from lab.conform.harness_digest import harness_digest
from lab.conform.kept_walks import (
    KeptWalk,
    Question,
    keep,
    read_kept,
    require_same,
)
from waterline.checker.kafka.confirm.carrying_out import work_folder
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import Site, Tell, class_path
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.counterexamples import BadTrace, read_trace, write_trace
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment

_ALL_STEPS = 1_000_000
"""A trace is walked to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformOptions:
    """Amount of walking: the number of random walks, and of walks to outcomes with `states_max`.

    No step begins after `seconds_max`, None for no limit.
    """

    walks: int
    steps_max: int
    seed: int
    states_max: int | None
    seconds_max: float | None = None


def circumstances_of(names: Sequence[str], trace: Path | None) -> list[Circumstances]:
    """Return named circumstances, or a trace file's. Raises `CannotConfirm`, `BadTrace`."""
    if trace is not None:
        recorded = read_trace(trace)
        try:
            environment = Environment.from_options(dict(recorded.environment))
        except BadEnvironment as problem:
            raise BadTrace(f"{trace}: {problem}") from None
        return [Circumstances("trace", "As the trace has it.", environment)]
    known = {each.name: each for each in CIRCUMSTANCES}
    for name in names:
        if name not in known:
            raise CannotConfirm(f"--circumstances is {name!r}; there are {', '.join(known)}")
    return [each for each in CIRCUMSTANCES if not names or each.name in names]


def begun_with(
    release: KafkaRelease, circumstances: Sequence[Circumstances], results: Path | None
) -> Conformance:
    """Return the conformance to continue, with a file's results for the release.

    Raises `CannotConfirm` if the file is of another kind, or of other rules or bounds.
    """
    kept = read_kept(results) if results is not None else []
    found = begin(release, circumstances, kept)
    if results is not None:
        require_same(results, kept, [each.question for each in found.tallied])
    return found


def look_for_outcomes(
    found: Conformance, *, states_max: int, results: Path | None, announce: Tell
) -> None:
    """Plan the walks to every outcome that the model can reach, where that was not done yet."""
    for tally in found.tallied:
        if tally.plan is not None and tally.plan.made_by == harness_digest():
            continue
        announce(f"looking for the outcomes of {tally.circumstances.name}")
        tally.plan = plan_goals(
            tally.problem, found.release, states_max=states_max, announce=announce
        )
        if results is not None:
            keep(results, tally.question, tally.plan)


def carried_out(
    found: Conformance,
    asked: ConformOptions,
    *,
    trace: Path | None,
    shortens: bool,
    results: Path | None,
    jars: Path | None,
    announce: Tell,
    report: Tell,
) -> Disagreement | None:
    """Walk; with `shortens` the first disagreement in as few steps as found.

    Ctrl-C ends it with what was compared until then. Raises `CannotConfirm`, `BadTrace`.
    """

    def write_down(question: Question, walk: KeptWalk) -> None:
        if results is not None and trace is None:
            keep(results, question, walk)

    if trace is None and asked.states_max is not None:
        look_for_outcomes(found, states_max=asked.states_max, results=results, announce=announce)
    files = class_path(found.release, folder=jars, announce=announce)
    how = Round(
        steps_max=asked.steps_max if trace is None else _ALL_STEPS,
        seed=asked.seed,
        announce=announce,
        keep=write_down,
        is_over=_is_over(asked.seconds_max),
    )
    with work_folder(None) as folder:
        grounds = Grounds(Site(found.release, files, folder, announce, report))
        if trace is not None:
            walk_along(grounds, found, read_trace(trace).steps, how)
            return None
        try:
            walk_to_outcomes(grounds, found, how)
            walk_by_chance(grounds, found, asked.walks, how)
        except KeyboardInterrupt:
            announce("interrupted: what was compared until then is shown")
            found.interrupted = True
            return None
        if not found.disagreements or not shortens or how.is_over():
            return None
        first = found.disagreements[0]
        return shortest(grounds, first, found.of(first.planned).model, report=announce)


def _is_over(seconds_max: float | None) -> Callable[[], bool]:
    if seconds_max is None:
        return lambda: False
    end = time.monotonic() + seconds_max
    return lambda: time.monotonic() >= end


def write_shortest(shown: Disagreement, found: Conformance, folder: Path) -> Path:
    """Write it as a trace; where to."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"conform-{found.release.name}-{shown.planned.circumstances.name}.json"
    model: Model = found.of(shown.planned).model
    write_trace(path, trace_of_walk(shown.walked.steps, model))
    return path


def report(figures: Figures) -> Iterator[str]:
    """The figures for a terminal."""
    seeds = f", seed {' and '.join(map(str, figures.seeds))}" if figures.seeds else ""
    yield f"{figures.walks} walks on Kafka {figures.release}{seeds}"
    yield ""
    for action, steps in figures.by_action.items():
        yield f"  {action:22}{steps:6,} steps"
    yield ""
    for each in figures.circumstances:
        if each.reachable:
            part = "" if each.complete else ", of as many states as were allowed"
            yield (
                f"  {each.name:12}{each.outcomes} of {each.steerable} outcomes compared that "
                f"brokers can be steered to, {each.reachable} in all ({each.states:,} states{part})"
            )
        for name, times in each.differences.items():
            yield f"  {each.name:12}{times} walks ended with a known difference: {name}"
        for reason, times in each.not_held.items():
            yield f"  {each.name:12}{times} walks could not go on: {reason}"
    for reason in figures.disagreements:
        yield f"DISAGREES: {reason}"
    yield (
        f"{figures.steps:,} steps compared in {figures.seconds:,.0f} s, "
        f"{len(figures.disagreements)} disagreements"
    )
