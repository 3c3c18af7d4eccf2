"""Execution of `matrix`: explores the grid, shows and writes it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from checker.cli.shared import exit_codes
from checker.cli.shared.ending import ending_as_by_ctrl_c
from checker.cli.shared.file_options import write_files
from checker.cli.shared.options import require_heard, take_engine
from checker.cli.shared.progress import Progress, showing
from checker.cli.shared.screen import error_screen, screen
from checker.kafka.matrix.advice import Advice, advice
from checker.kafka.matrix.config_table import ConfigAnswer, render_config
from checker.kafka.matrix.deepening import Follow, Rung
from checker.kafka.matrix.files import to_csv, to_text
from checker.kafka.matrix.grid import (
    EPOCHS_MAX_RAISED,
    FAULT,
    OVER,
    Grid,
    checked,
    first_records,
    grid_over,
)
from checker.kafka.matrix.known_causes import Kin, kin_of
from checker.kafka.matrix.matrix import Matrix, explore_grid
from checker.kafka.matrix.picture import to_svg
from checker.kafka.matrix.properties import Config, read_config
from checker.kafka.matrix.running import Explorer, exploring
from checker.kafka.matrix.table import render_matrix
from checker.problem.wording import counted
from model.core.errors import BadEnvironment


def answer_matrix(options: dict[str, Any]) -> int:
    """Explore what the options ask for, and show it; returns the exit code."""
    choice = take_engine(options)
    require_heard(choice)
    config = _config(options)
    grid = _grid(options, config)
    with (
        ending_as_by_ctrl_c(),
        showing(error_screen()) as progress,
        exploring(choice, announce=progress.announce) as explorer,
    ):
        matrix = explore_grid(grid, explorer, engine=choice.name, follow=_following(progress))
        matrix, answer = _answered(config, matrix, explorer, progress)
    screen().print(render_config(answer) if answer else render_matrix(matrix))
    _write(options, matrix, answer)
    return exit_codes.HOLDS if matrix.complete else exit_codes.INCOMPLETE


def _config(options: dict[str, Any]) -> Config | None:
    """What --config and its companions say together."""
    if options["config"] is None:
        for name in ("topic_config", "acks", "kafka_version"):
            if options[name]:
                remedy = "; use --only acks=..." if name == "acks" else ""
                option = name.replace("_", "-")
                raise click.UsageError(f"--{option} goes with --config{remedy}")
        return None
    if options["over"] is not None:
        raise click.UsageError("--over does not go with --config, which goes over the faults")
    config = read_config(
        options["config"],
        options["topic_config"],
        acks=options["acks"],
        kafka_version=options["kafka_version"],
        replicas=options["replicas"],
    )
    for setting in config.settings:
        # Values are shown, and written as XML, which has no control characters.
        if not setting.value.isprintable():
            raise setting.refused("it has control characters; write it without")
    return config


def _grid(options: dict[str, Any], config: Config | None) -> Grid:
    """The grid that was asked for, checked. Raises `BadEnvironment`."""
    only = [pair for pairs in options["only"] for pair in pairs]
    replicas = config.replicas if config else options["replicas"] or 2
    asked: dict[str, Any] = {
        "replicas": replicas,
        "records": first_records(replicas, options["records"]),
        "records_max": options["records"],
        "epochs": options["epochs"],
        "epochs_max": _max_epochs(options),
        "max_states": options["max_states"],
        "tries_unbounded": options["unbounded"],
    }
    if options["invariants"]:
        asked["invariants"] = options["invariants"]
    if config is None:
        over = [name.strip() for name in (options["over"] or ",".join(OVER)).split(",")]
        return grid_over(over, only, **asked)
    if foreign := [axis for axis, _ in only if axis != FAULT]:
        raise BadEnvironment(f"--only {foreign[0]} does not go with --config, which sets it")
    axes = config.axes(only=[value for _, value in only])
    return checked(Grid(axes=axes, worst_is_enough=True, **asked))


def _max_epochs(options: dict[str, Any]) -> int:
    """What --max-epochs says, and if nobody does the usual, or --epochs where that is more."""
    asked, first = options["max_epochs"], options["epochs"]
    if asked is not None and asked < first:
        raise click.UsageError(f"--max-epochs is {asked}, less than --epochs, which is {first}")
    return max(EPOCHS_MAX_RAISED, first) if asked is None else int(asked)


def _following(progress: Progress, what: str = "cell") -> Follow:
    """Progress that says what is explored, within which sizes, and what is left."""

    def follow(rung: Rung, done: int, under_way: Collection[int] | None) -> None:
        left = len(rung.cells) - done
        now = [rung.cells[place].coordinates[FAULT] for place in under_way or ()]
        doing = f"; now {', '.join(dict.fromkeys(now))}" if now else ""
        epochs = "any number of epochs" if rung.is_unbounded else f"epochs 0 to {rung.epochs}"
        progress.report(
            f"{counted(rung.records, 'record')}, {epochs}: "
            f"{done} of {counted(len(rung.cells), what)} explored, {left} left{doing}"
        )

    return follow


def _answered(
    config: Config | None, matrix: Matrix, explorer: Explorer, progress: Progress
) -> tuple[Matrix, ConfigAnswer | None]:
    """The matrix, which is interrupted if anything that is to be reported with it was; and that."""
    if config is None:
        return matrix, None
    found = Advice(interrupted=matrix.interrupted)
    kin: Mapping[str, Sequence[Kin]] = {}
    try:
        if not found.interrupted:
            follow = _following(progress, "neighbour")
            found = advice(config, matrix.grid, matrix.outcomes, explorer, follow=follow)
        if not found.interrupted:
            progress.report("looking for what is like it in the catalogue")
            kin = kin_of(matrix.grid, matrix.outcomes, explorer)
        is_interrupted = found.interrupted
    except KeyboardInterrupt:
        is_interrupted = True
        found = found if found.tried else Advice(interrupted=True)
    described = replace(matrix, interrupted=is_interrupted)
    return described, ConfigAnswer(config, described, found, kin)


def _write(options: dict[str, Any], matrix: Matrix, answer: ConfigAnswer | None) -> None:
    writers: dict[str, Callable[[], str]] = {
        "json_file": lambda: to_text(matrix, answer),
        "csv_file": lambda: to_csv(matrix),
        "html_file": lambda: _page(matrix, answer),
        "svg_file": lambda: to_svg(render_config(answer) if answer else render_matrix(matrix)),
    }
    write_files({options[name]: text for name, text in writers.items() if options[name]})


def _page(matrix: Matrix, answer: ConfigAnswer | None) -> str:
    from checker.report.pages.matrix_page import to_html  # noqa: PLC0415 - few ask for a page

    return to_html(matrix, answer)
