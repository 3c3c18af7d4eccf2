"""`waterline confirm`: a counterexample replayed on brokers of a released Kafka."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import click

from checker.budgets import Budgets
from checker.confirm.errors import CannotConfirm
from checker.confirm.releases import KafkaRelease, kafka_release
from checker.console import exit_codes
from checker.console.ending import ending_as_by_ctrl_c
from checker.console.progress import Progress, showing
from checker.console.screen import error_screen, say, screen
from checker.engines.choice import EngineChoice
from checker.finding import Finding, confirmed
from checker.grains import MESSAGE, grain_of
from checker.problem import Problem
from checker.run import run
from checker.scenarios.catalogue import find_scenario
from checker.scenarios.scenario import Scenario
from counterexamples import BadTrace, Moment, Trimmed, read_trace
from invariants.claim import ActionProperty, Invariant
from model.message.environment import BadEnvironment, Environment
from model.message.terms import ANSWERED
from model.message.versions import version_of

HELP = """\b
Exit codes:
  0   CONFIRMED; with --expect: as expected
  2   bad usage, no Java, no jars, a broker that does not come up
  3   with --expect: something else
  20  interrupted
  30  HELD: these brokers do not break the claim
  31  REFUTED: brokers did something else than the model
  32  NOT STEERABLE: the harness cannot cause or hold a step
"""
_WORK_PREFIX = "waterline-confirm-"


@click.command("confirm", short_help="Replay a counterexample on real Kafka brokers.", epilog=HELP)
@click.argument("trace", required=False, type=click.Path(path_type=Path))
@click.option("--scenario", metavar="NAME", help="Instead of TRACE: an entry of the catalogue.")
@click.option(
    "--kafka", required=True, metavar="RELEASE", help="Whose brokers, as 0.10.2.2 or 3.9.1."
)
@click.option(
    "--control",
    is_flag=True,
    help="With --scenario: with the step more that prevents it, if it has one.",
)
@click.option(
    "--jars",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with the release's jars, and all that they depend on; else Maven fetches them.",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep logs, segments and the conversation in this folder, which must be new or empty.",
)
@click.option(
    "--expect",
    type=click.Choice(["confirmed", "held", "refuted", "not-steerable"]),
    help="What is to come out: exit 0 if it does, else 3.",
)
def confirm_command(
    trace: Path | None,
    scenario: str | None,
    kafka: str,
    control: bool,
    jars: Path | None,
    keep: Path | None,
    expect: str | None,
) -> int:
    """Replay a counterexample, step by step, on unchanged brokers of a released Kafka.

    TRACE is a file as `check --trace-dir` writes it. After every step what brokers show is compared
    with the model. Everything runs on this machine and listens on loopback only.
    """
    if (trace is None) == (scenario is None):
        raise click.UsageError("give a TRACE or --scenario, one of them")
    if control and scenario is None:
        raise click.UsageError("--control is of a scenario; name it with --scenario")
    release = kafka_release(kafka)
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        if trace is not None:
            problem, finding = _recorded(trace)
        else:
            assert scenario is not None
            problem, finding = _searched(find_scenario(scenario), release, progress)
        return _confirmed(
            problem, finding, release, scenario, control, jars, keep, expect, progress
        )


def _confirmed(
    problem: Problem,
    finding: Finding,
    release: KafkaRelease,
    scenario: str | None,
    control: bool,
    jars: Path | None,
    keep: Path | None,
    expect: str | None,
    progress: Progress,
) -> int:
    # Here, and not above: the libraries that this needs are optional, and it says so.
    from checker.confirm.controls import with_control  # noqa: PLC0415
    from checker.confirm.course import course_of  # noqa: PLC0415
    from checker.confirm.jars import class_path  # noqa: PLC0415
    from checker.confirm.paused import confirm_by_pauses, require_pauses_are_enough  # noqa: PLC0415
    from checker.confirm.replay import confirm_on, unsteerable  # noqa: PLC0415
    from checker.confirm.report import render_confirmation  # noqa: PLC0415

    model, claim = problem.model, _claim(problem)
    replayed = finding.replayed
    if release.is_kraft:
        require_pauses_are_enough(scenario, release)
    elif control:
        assert scenario is not None
        replayed = with_control(find_scenario(scenario).name, replayed.trace, model)
    course = course_of(replayed, model, claim, release)
    found = None if release.is_kraft else unsteerable(course)
    if found is None:
        files = class_path(release, folder=jars, announce=progress.announce)
        with _work_folder(keep) as folder:
            if release.is_kraft:
                found = confirm_by_pauses(
                    course,
                    release,
                    jars=files,
                    folder=folder,
                    is_control=control,
                    announce=progress.announce,
                    tell=progress.tell,
                )
            else:
                found = confirm_on(
                    course,
                    release,
                    jars=files,
                    folder=folder,
                    announce=progress.announce,
                    tell=progress.tell,
                )
    screen().print(Trimmed(render_confirmation(found, course, release)))
    if keep is not None:
        say(f"kept in {keep}")
    name = found.judgement.name.lower().replace("_", "-")
    if expect is not None:
        return exit_codes.HOLDS if name == expect else exit_codes.UNEXPECTED
    return exit_codes.OF_CONFIRMING[name]


def _recorded(path: Path) -> tuple[Problem, Finding]:
    """The counterexample in a file, seen to be one."""
    recorded = read_trace(path)
    try:
        grain = grain_of(recorded.model)
        if grain is not MESSAGE:
            raise BadTrace(
                f"{path} is a trace of {recorded.model}, whose steps are no requests; "
                f"one of {MESSAGE.model} can be replayed on brokers"
            )
        environment = grain.environment.from_options(dict(recorded.environment))
        problem = grain.problem(recorded.version, environment, [recorded.invariant])
    except BadEnvironment as found:
        raise BadTrace(f"{path}: {found}") from None
    return problem, confirmed(recorded, problem.model, _claim(problem))


def _searched(
    scenario: Scenario, release: KafkaRelease, progress: Progress
) -> tuple[Problem, Finding]:
    """The shortest counterexample of a scenario: of the release's own rules, if those fall.

    Else of the first version that does.
    """
    own = version_of(release.rules)
    fitting = (
        name
        for name in scenario.falls
        if (version_of(name).truncation, version_of(name).features)
        == (own.truncation, own.features)
    )
    version = release.rules if release.is_kraft else next(fitting, scenario.falls[0])
    problem, finding = _found(scenario, version, scenario.environment, progress)
    moved = any(map(_moves_with_records, finding.replayed.moments))
    if moved and scenario.environment.hw_in_response != "pre":
        # The code answers such a fetch with the high watermark of before it: what the catalogue
        # tells as most descriptions do is shown as Kafka does it.
        environment = replace(scenario.environment, hw_in_response="pre")
        with suppress(NotFound):
            return _found(scenario, version, environment, progress)
    return problem, finding


class NotFound(Exception):
    """The claim is not broken within the bounds."""


def _found(
    scenario: Scenario, version: str, environment: Environment, progress: Progress
) -> tuple[Problem, Finding]:
    """The first counterexample. Raises `NotFound`, and `KeyboardInterrupt`."""
    progress.announce(f"searching for {scenario.name} under {version}")
    problem = MESSAGE.problem(version, environment, [scenario.claim])
    found = run(problem, EngineChoice(name="local"), budgets=Budgets(stop_at_first=True))
    if found.result.interrupted:
        raise KeyboardInterrupt
    if not found.findings:
        raise NotFound
    return problem, found.findings[0]


def _moves_with_records(moment: Moment) -> bool:
    """Whether a fetch brings records and moves the leader's high watermark."""
    if moment.action != "LeaderFetch":
        return False
    [follower] = moment.values
    leader = moment.before.known_leader[follower]
    brings = moment.after.fetch[follower] == ANSWERED and moment.after.answer_log[follower, 0]
    return bool(brings) and moment.after.hw[leader] != moment.before.hw[leader]


def _claim(problem: Problem) -> Invariant | ActionProperty:
    """The one that was asked for."""
    return next(claim for claim in problem.claims if problem.is_asked(claim))


@contextmanager
def _work_folder(keep: Path | None) -> Iterator[Path]:
    """Where brokers have their files: a folder to keep, or one that is removed."""
    if keep is None:
        made = Path(tempfile.mkdtemp(prefix=_WORK_PREFIX))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return
    keep.mkdir(parents=True, exist_ok=True)
    if any(keep.iterdir()):
        raise CannotConfirm(f"--keep {keep} is not empty; name a new folder")
    yield keep.resolve()
