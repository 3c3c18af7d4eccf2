"""Execution of `confirm`: replays on brokers of Kafka, or on tablet servers of Fluss.

The report has steps, a lane for each broker, and the verdict. A lane has LEO and high watermark,
the model's and Kafka's side by side; where anything else differs, a line under the step says what.
"""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.cli.confirm import ConfirmOptions
from waterline.checker.cli.shared.progress import ending_as_by_ctrl_c, showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.kafka.confirm.carrying_out import carried_out, work_folder
from waterline.checker.kafka.confirm.counterexample import load_counterexample, search, ways_shown
from waterline.checker.kafka.confirm.course import Course
from waterline.checker.kafka.confirm.facts import Facts, of
from waterline.checker.kafka.confirm.fluss.replay import render_on_fluss, steered_release
from waterline.checker.kafka.confirm.fluss.replay import replay_on_fluss as replay
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.replay import Confirmation, Judgement
from waterline.checker.kafka.confirm.stepping import StepSeen
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.counterexamples import Replayed, read_trace
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD, GOOD, TITLE, WARNING, columns


def replay_on_kafka(options: ConfirmOptions, release: KafkaRelease, entry: Scenario | None) -> str:
    """Replay on brokers; the name of the judgement."""
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        if entry is not None:
            ways = ways_shown(entry, release.rules, progress.announce)
        else:
            assert options.trace is not None
            ways = iter([load_counterexample(options.trace)])
        for shown in ways:
            found, course = carried_out(
                shown,
                release,
                control_of=entry.name if entry and options.control else None,
                jars=options.jars,
                keep=options.keep,
                announce=progress.announce,
                report=progress.report,
            )
            if (
                found.judgement.name != "NOT_STEERABLE"
                or options.control
                or options.keep is not None
            ):
                break
    screen().print(Trimmed(render_confirmation(found, course, release)))
    return found.judgement.name


def replay_on_fluss(options: ConfirmOptions, entry: Scenario | None) -> str:
    """Replay on tablet servers; the name of the judgement."""
    assert options.fluss is not None
    release = steered_release(options.fluss)
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        if entry is not None:
            shown = search(entry, release.rules, progress.announce)
            read = shown.finding.replayed.trace
        else:
            assert options.trace is not None
            read = read_trace(options.trace)
        found_jars = class_path(release, folder=options.jars, announce=progress.announce)
        with work_folder(options.keep) as folder:
            found = replay(read, release, folder, found_jars)
    screen().print(Trimmed(render_on_fluss(found, read, release)))
    return found.judgement.name


_STYLES = {
    Judgement.CONFIRMED: BAD,
    Judgement.HELD: GOOD,
    Judgement.REFUTED: WARNING,
    Judgement.NOT_STEERABLE: WARNING,
}
_DIFFERS = WARNING
_NOTHING = "-"


def render_confirmation(
    found: Confirmation, course: Course, release: KafkaRelease
) -> RenderableType:
    """The whole of it, for a terminal of any width or a pipe."""
    trace = course.trace
    title = Text.assemble(
        (f"{trace.invariant} under {trace.version}", "bold"),
        ", on real brokers of ",
        (release.title, "bold"),
    )
    parts: list[RenderableType] = [title]
    if found.steps:
        parts += [_lanes(found, course.replayed)]
    if found.evidence is not None:
        parts += [Text(), *map(Text, found.evidence.lines)]
    return Group(*parts, Text(), verdict_line(found, release))


def verdict_line(found: Confirmation, release: KafkaRelease) -> Text:
    """`CONFIRMED on Kafka 0.10.2.2 in 5 s: ...`"""
    names_step = found.judgement in {Judgement.REFUTED, Judgement.NOT_STEERABLE}
    where = f" at step {found.step}" if found.step and names_step else ""
    return Text.assemble(
        (found.judgement.value + where, _STYLES[found.judgement]),
        f" on {release.title} in {found.seconds:.0f} s: {found.reason}.",
    )


def _lanes(found: Confirmation, replayed: Replayed) -> Table:
    brokers = range(replayed.initial.replicas)
    table = columns(gap=1, header=TITLE)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Step", overflow="fold")
    for broker in brokers:
        # LEO/HW of each; beneath the broker's name whose they are.
        table.add_column(Text(f"r{broker}\nmodel"), no_wrap=True)
        table.add_column(Text("LEO/HW\nKafka"), no_wrap=True)
    for step in found.steps:
        cells = [cell for broker in brokers for cell in _pair(step, broker)]
        table.add_row(f"{step.number}.", Text(step.sentence), *cells)
        for note in _notes(step):
            table.add_row("", Text(note, _DIFFERS))
    return table


def _pair(step: StepSeen, broker: int) -> tuple[Text, Text]:
    model, kafka = _lane(step.model, broker), _lane(step.kafka, broker)
    return Text(model), Text(kafka, "" if model == kafka else _DIFFERS)


def _lane(facts: Facts, broker: int) -> str:
    """LEO and high watermark; of a broker that is down, the end of its log on disk alone."""
    end = facts.get(of(broker, "LEO"), _NOTHING)
    return f"{end}/{facts.get(of(broker, 'HW'), _NOTHING)}"


def _notes(step: StepSeen) -> list[str]:
    described = [f"! {each}" for each in step.differences]
    return [*described, f"! {step.problem}"] if step.problem else described
