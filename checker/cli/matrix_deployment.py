"""Execution of `matrix --config` and `--bootstrap-server`: an answer for each class of topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Group, RenderableType
from rich.text import Text

from waterline.checker.batch.in_memory import exploring
from waterline.checker.batch.keeping import STATES_MIN, keeping, remembering
from waterline.checker.batch.question import Answer, Explorer, Question, Watch, unexplored_answer
from waterline.checker.cli.matrix import MatrixOptions
from waterline.checker.cli.matrix_run import REMEDY, following, only_of, sizes_of
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import write_files
from waterline.checker.cli.shared.options import require_engine
from waterline.checker.cli.shared.progress import Progress, ending_as_by_ctrl_c, showing
from waterline.checker.cli.shared.screen import Screen, error_screen, screen
from waterline.checker.kafka.deployed.deployment import Deployment, Mistakes
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.deployed.saved import to_saved
from waterline.checker.kafka.matrix.advice import Advice, advice
from waterline.checker.kafka.matrix.answer_screen import NOTES_MAX, render_screen, sorted_answers
from waterline.checker.kafka.matrix.config_table import render_config, unused_settings
from waterline.checker.kafka.matrix.deployment_facts import elr_in_danger
from waterline.checker.kafka.matrix.files import as_text, deployment_csv, deployment_object
from waterline.checker.kafka.matrix.findings import findings_of
from waterline.checker.kafka.matrix.grid import FAULT, STATES_MAX_OF_A_TRIAL, Grid, check_cells
from waterline.checker.kafka.matrix.known_causes import Kin, kin_of
from waterline.checker.kafka.matrix.matrix import (
    ConfigAnswer,
    DeploymentAnswer,
    Matrix,
    explore_grid,
)
from waterline.checker.kafka.matrix.properties import Config, configs_of, describe_topics
from waterline.checker.kafka.matrix.quote import quotation
from waterline.checker.kafka.matrix.reason import losses_among, record_lost
from waterline.checker.kafka.matrix.table import to_svg
from waterline.checker.kafka.matrix.verdict_groups import groups_of
from waterline.checker.problem.wording import quantity
from waterline.checker.search.result import Verdict
from waterline.model.core.errors import BadEnvironment

_BOUNDS = "\nChecked: "
"""Beginning of the line that may alone differ between a first answer and the whole."""
ON_LOSS, ON_SETTING, NEVER = "loss", "setting", "never"
"""Conditions for exit code 12: any loss, one that a change of settings prevents, none."""


def answer_deployment(options: MatrixOptions) -> int:
    """Read it, explore each class of topics, and show the answer; returns the exit code."""
    choice = options.running.choice()
    require_engine(choice)
    if options.over is not None:
        raise click.UsageError("--over does not go with --config, which goes over the faults")
    mistakes = Mistakes()
    deployment = _deployment(options, mistakes)
    grids = _grids(options, deployment, mistakes)
    with (
        ending_as_by_ctrl_c(),
        showing(error_screen()) as progress,
        exploring(choice, announce=progress.announce) as fresh,
    ):
        explorer = fresh if options.no_cache else keeping(fresh, states_min=STATES_MIN)
        asked = remembering(_reporting(explorer, progress))
        ask = _Asking(choice.name, asked, progress, len(grids))
        first, answer = _answers(deployment, grids, ask, is_quick=options.quick)
    shown = _render(answer, has_details=options.details)
    shown_first = None if options.details or not screen().is_terminal else first
    if options.quote:
        for each in answer.answers:
            about = f"{describe_topics(each.config.topics)}: " if len(grids) > 1 else ""
            click.echo(f"{about}{quotation(each)}")
    elif shown_first is not None and (end := only_bounds(shown_first, answer)):
        screen().print(Text(end))
    else:
        screen().print(shown)
    _write(options, answer, shown)
    return exit_code(answer, options.fail_on)


def _deployment(options: MatrixOptions, mistakes: Mistakes) -> Deployment:
    """Read the deployment from files or a cluster. Errors in files are added to `mistakes`."""
    if options.bootstrap_server:
        return _read_live(options, options.bootstrap_server)
    if options.save_file:
        raise click.UsageError("--save goes with --bootstrap-server")
    deployment = read_deployment([*options.config, *options.topic_config], mistakes)
    _require_printable(deployment)
    return deployment


def _read_live(options: MatrixOptions, server: str) -> Deployment:
    """Read the deployment from the cluster's admin API, and save it if requested."""
    if options.config or options.topic_config:
        raise click.UsageError("--bootstrap-server reads a cluster; leave out --config")
    from waterline.checker.kafka.deployed.live import read_cluster  # noqa: PLC0415 - few ask a cluster

    deployment = read_cluster(server, options.command_config)
    _require_printable(deployment)
    write_files({options.save_file: lambda: to_saved(deployment)})
    return deployment


def _require_printable(deployment: Deployment) -> None:
    """Values are shown, and written as XML, which has no control characters."""
    settings = [*deployment.brokers.values(), *deployment.unused]
    for topic in deployment.topics:
        settings += topic.settings.values()
    for setting in settings:
        if not setting.value.isprintable():
            raise setting.refusal("it has control characters; write it without")


def _grids(
    options: MatrixOptions, deployment: Deployment, mistakes: Mistakes
) -> list[tuple[Config, Grid]]:
    """A grid for each class of topics, checked. Raises `BadConfig`, `BadEnvironment`."""
    configs = configs_of(
        deployment,
        mistakes,
        acks=next((acks for topic, acks in options.acks if not topic), None),
        acks_of={topic: acks for topic, acks in options.acks if topic},
        kafka_version=options.kafka_version,
        replicas=options.replicas,
    )
    for config in configs:
        for setting in config.settings:
            if not setting.value.isprintable():
                raise setting.refusal("it has control characters; write it without")
    only = only_of(options)
    if foreign := [axis for axis, _ in only if axis != FAULT]:
        raise BadEnvironment(f"--only {foreign[0]} does not go with --config, which sets it")
    faults = [value for _, value in only]
    return [
        (
            config,
            check_cells(
                Grid(
                    axes=config.axes(only=faults),
                    worst_is_enough=True,
                    in_order_given=True,
                    **sizes_of(options, config.explored.replicas),
                )
            ),
        )
        for config in configs
    ]


class _Asking:
    """Maker of answers. After an interruption it explores nothing more."""

    def __init__(self, engine: str, explorer: Explorer, progress: Progress, classes: int) -> None:
        self.engine, self.explorer, self.progress = engine, explorer, progress
        self._has_several = classes > 1

    def answer(self, config: Config, grid: Grid) -> ConfigAnswer:
        """About one class."""
        about = describe_topics(config.topics, most=1) if self._has_several else ""
        follow = following(self.progress, about=about)
        matrix = explore_grid(grid, self.explorer, engine=self.engine, follow=follow)
        return self._advise(config, matrix, about)

    def _advise(self, config: Config, matrix: Matrix, about: str) -> ConfigAnswer:
        found = Advice(interrupted=matrix.interrupted)
        kin: Mapping[str, Sequence[Kin]] = {}
        try:
            if not found.interrupted:
                follow = following(self.progress, REMEDY, about)
                found = advice(config, matrix.grid, matrix.outcomes, self.explorer, follow=follow)
            if not found.interrupted:
                self.progress.report("looking for what is like it in the catalogue")
                kin = kin_of(matrix.grid, matrix.outcomes, self.explorer)
            is_interrupted = found.interrupted
        except KeyboardInterrupt:
            is_interrupted = True
            found = found if found.tried else Advice(interrupted=True)
        if is_interrupted:
            self.explorer = _unasked_answers
        return ConfigAnswer(config, replace(matrix, interrupted=is_interrupted), found, kin)


def _unasked_answers(questions: Sequence[Question], watch: Watch) -> list[Answer]:
    """No answer to any, after an interrupt."""
    return list(map(unexplored_answer, questions))


def only_bounds(first: DeploymentAnswer, whole: DeploymentAnswer) -> str:
    """Return the end of the whole answer if all before its bounds was shown already, else ""."""
    texts = []
    for answer in (first, whole):
        plain = Screen(color_system=None)
        with plain.capture() as captured:
            plain.print(render_screen(answer))
        texts.append(captured.get())
    before, bounds, rest = texts[1].partition(_BOUNDS)
    if bounds and texts[0].startswith(f"{before}{bounds}"):
        return f"Larger bounds show nothing else.{bounds}{rest}".rstrip()
    return ""


def _answers(
    deployment: Deployment, grids: Sequence[tuple[Config, Grid]], ask: _Asking, *, is_quick: bool
) -> tuple[DeploymentAnswer | None, DeploymentAnswer]:
    """A first look if it was shown, as soon as it is there; then the whole, with larger bounds."""
    few = [
        grid.at_first(STATES_MAX_OF_A_TRIAL) if config.stand_in else grid.at_first()
        for config, grid in grids
    ]
    answers = [ask.answer(config, grid) for (config, _), grid in zip(grids, few, strict=True)]
    first = DeploymentAnswer(deployment, sorted_answers(answers))
    if is_quick or first.interrupted:
        return None, first
    ask.progress.note("a first answer; larger bounds are explored now (--quick ends here):")
    error_screen().print(render_screen(first))
    answers = [ask.answer(config, grid) for config, grid in grids]
    whole = DeploymentAnswer(deployment, sorted_answers(answers))
    if whole.interrupted:
        return None, _as_interrupted(first)
    return first, whole


def _as_interrupted(first: DeploymentAnswer) -> DeploymentAnswer:
    """The first look, which is whole, while larger bounds were not explored to their end."""
    answers = [
        replace(answer, matrix=replace(answer.matrix, interrupted=True)) for answer in first.answers
    ]
    return replace(first, answers=tuple(answers))


def _reporting(explorer: Explorer, progress: Progress) -> Explorer:
    """Return an explorer with a line for each fault as soon as anything is known of it."""
    seen: set[str] = set()

    def on_answer(question: Question, answer: Answer) -> None:
        broken = {
            name: depth
            for name, verdict, depth in answer.verdicts
            if verdict == Verdict.VIOLATED.value and depth is not None
        }
        if question.name in seen or not answer.distinct:
            return
        seen.add(question.name)
        records = question.problem.model.options["records"]
        if lost := losses_among(broken):
            steps = quantity(min(broken[name] for name in lost), "step")
            text = f"{record_lost(lost)} is lost ({steps})"
        elif broken:
            text = f"harm without a loss ({quantity(min(broken.values()), 'step')})"
        else:
            text = "no loss" if answer.complete else "no loss so far"
            text += f" with {quantity(int(str(records)), 'record')}"
        progress.note(f"{question.name}: {text}")

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        def report(place: int, answer: Answer) -> None:
            on_answer(questions[place], answer)
            watch.found(place, answer)

        return explorer(questions, replace(watch, found=report))

    return explore


def _render(answer: DeploymentAnswer, *, has_details: bool) -> RenderableType:
    if not has_details:
        return render_screen(answer)
    parts: list[RenderableType] = [render_screen(answer, is_whole=True), Text()]
    parts += unused_settings(answer.deployment)
    parts += [Text(note, "yellow") for note in answer.deployment.notes[NOTES_MAX:]]
    for each in answer.answers:
        parts += [Text(), render_config(each)]
    return Group(*parts)


def _write(options: MatrixOptions, answer: DeploymentAnswer, shown: RenderableType) -> None:
    from waterline.checker.ci.reports import config_findings as reports  # noqa: PLC0415 - few ask for them

    fallback = next(iter(options.config), Path(options.bootstrap_server or "cluster"))
    findings = findings_of(answer, fallback)
    write_files(
        {
            options.json_file: lambda: as_text(deployment_object(answer, findings)),
            options.csv_file: lambda: deployment_csv(answer),
            options.html_file: lambda: _page(answer),
            options.svg_file: lambda: to_svg(shown),
            options.sarif_file: lambda: reports.to_sarif(findings, is_whole=answer.complete),
            options.junit_file: lambda: reports.to_junit(findings, answer),
        }
    )
    if options.github:
        for line in reports.workflow_commands(findings):
            click.echo(line)


def _page(answer: DeploymentAnswer) -> str:
    from waterline.checker.report.pages.deployment_page import to_html  # noqa: PLC0415 - few ask for a page

    return to_html(answer)


def exit_code(answer: DeploymentAnswer, fail_on: str) -> int:
    """20 where it was interrupted; 12 for what --fail-on names, before 20 for what is unknown."""
    if answer.interrupted:
        return exit_codes.INCOMPLETE
    fitting = [exit_codes.HOLDS]
    if fail_on != NEVER and any(_failing(answer, fail_on)):
        fitting.append(exit_codes.VIOLATED)
    if not answer.complete:
        fitting.append(exit_codes.INCOMPLETE)
    return exit_codes.winning(fitting)


def _failing(answer: DeploymentAnswer, fail_on: str) -> Iterator[bool]:
    yield fail_on == ON_LOSS and any(elr_in_danger(answer.deployment))
    for each in answer.answers:
        yield each.config.acks == "0"
        for group in groups_of(each):
            yield bool(group.losing) and (fail_on == ON_LOSS or group.is_of_settings)
