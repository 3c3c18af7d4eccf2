"""Plan of `conform`: which walks, and their summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.kafka.confirm.carrying_out import work_folder
from checker.kafka.confirm.circumstances import CIRCUMSTANCES, Circumstances
from checker.kafka.confirm.conformance import (
    Conformance,
    Disagreement,
    Grounds,
    begun,
    look_for_outcomes,
    shortest,
    trace_of_walk,
    walk_along,
    walk_by_chance,
    walk_to_the_rest,
)
from checker.kafka.confirm.errors import CannotConfirm
from checker.kafka.confirm.figures import Figures
from checker.kafka.confirm.jars import class_path
from checker.kafka.confirm.releases import KafkaRelease
from checker.kafka.confirm.site import Site, Tell
from counterexamples import BadTrace, read_trace, write_trace
from model.core.errors import BadEnvironment
from model.core.transition_system import Model
from model.message.environment import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How much is to be walked; `states_max` is None where outcomes are not looked for."""

    walks: int
    steps_max: int
    seed: int
    states_max: int | None


def circumstances_of(names: Sequence[str], trace: Path | None) -> list[Circumstances]:
    """Those of these names, or of a trace's file. Raises `CannotConfirm`, `BadTrace`."""
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


def carried_out(
    release: KafkaRelease,
    circumstances: Sequence[Circumstances],
    asked: Asked,
    *,
    trace: Path | None,
    shortens: bool,
    jars: Path | None,
    announce: Tell,
    report: Tell,
) -> tuple[Conformance, Disagreement | None]:
    """Walk; what came of it, and with `shortens` the first disagreement in as few steps as found.

    Ctrl-C ends it with what was compared until then. Raises `CannotConfirm`, `BadTrace`.
    """
    found = begun(release, circumstances)
    files = class_path(release, folder=jars, announce=announce)
    with work_folder(None) as folder:
        grounds = Grounds(Site(release, files, folder, announce, report))
        if trace is not None:
            walk_along(grounds, found, read_trace(trace).steps, announce=announce)
            return found, None
        try:
            _walked(grounds, found, asked, announce)
        except KeyboardInterrupt:
            announce("interrupted: what was compared until then is shown")
            found.interrupted = True
            return found, None
        if not found.disagreements or not shortens:
            return found, None
        first = found.disagreements[0]
        return found, shortest(grounds, first, _model_of(first, found), report=announce)


def _walked(grounds: Grounds, found: Conformance, asked: Asked, announce: Tell) -> None:
    if asked.states_max is not None:
        look_for_outcomes(found, states_max=asked.states_max, announce=announce)
    walk_by_chance(
        grounds,
        found,
        walks=asked.walks,
        steps_max=asked.steps_max,
        seed=asked.seed,
        announce=announce,
    )
    walk_to_the_rest(grounds, found, steps_max=asked.steps_max, seed=asked.seed, announce=announce)


def _model_of(shown: Disagreement, found: Conformance) -> Model:
    name = shown.planned.circumstances.name
    return next(each.model for each in found.tallied if each.circumstances.name == name)


def write_shortest(shown: Disagreement, found: Conformance, folder: Path) -> Path:
    """Write it as a trace; where to."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"conform-{found.release.name}-{shown.planned.circumstances.name}.json"
    write_trace(path, trace_of_walk(shown.walked.steps, _model_of(shown, found)))
    return path


def report(figures: Figures) -> Iterator[str]:
    """The figures for a terminal."""
    yield f"{figures.walks} walks on Kafka {figures.release}, seed {figures.seed}"
    yield ""
    for action, steps in figures.by_action.items():
        yield f"  {action:22}{steps:6,} steps"
    yield ""
    for each in figures.circumstances:
        if each.reachable:
            part = "" if each.complete else ", of as many states as were allowed"
            yield (
                f"  {each.name:12}{each.outcomes} of {each.reachable} outcomes compared "
                f"({each.states:,} states{part})"
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
