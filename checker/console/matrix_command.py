"""`waterline matrix`: verdicts over a grid, or about a server.properties."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from checker.console import exit_codes
from checker.console.options import SparkMaster, SparkSetting, together
from checker.console.output_files import require_writable
from checker.console.progress import Progress, showing
from checker.engines.choice import EngineChoice
from checker.matrix.advice import remedies
from checker.matrix.config_table import ConfigAnswer, render_config
from checker.matrix.files import to_csv, to_text
from checker.matrix.grid import (
    AXES,
    CLAIMS,
    EPOCHS,
    FAULT,
    OVER,
    STATES_MAX,
    Grid,
    checked,
    grid_over,
)
from checker.matrix.page import to_html
from checker.matrix.picture import to_svg
from checker.matrix.properties import Config, read_config
from checker.matrix.running import Explorer, Matrix, Watch, explore_grid, exploring
from checker.matrix.table import render_matrix
from checker.wording import counted
from model.environment import EPOCHS_MAX, RECORDS_MAX, REPLICAS_MAX, BadEnvironment

_EPILOG = """\b
Exit codes:
  0   every cell was explored in full: what is violated is the answer
  2   bad usage, a bad file
  20  some cell was stopped early
  76  an action or an invariant raised an error
  1   internal error
"""
_NAMES = [axis.name for axis in AXES]
_FILE = click.Path(dir_okay=False, path_type=Path)


class AxisValues(click.ParamType[list[tuple[str, str]]]):
    """Some values of an axis."""

    name = "AXIS=VALUES"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[tuple[str, str]]:
        """The axis with each of the values."""
        name, equals, text = str(value).partition("=")
        values = [part.strip() for part in text.split(",")]
        if not equals or not all(values):
            self.fail(f"{value!r} chooses nothing; write version=hw,epoch", param, ctx)
        return [(name.strip(), part) for part in values]


grid_options = together(
    click.option(
        "--over",
        metavar="AXES",
        show_default="all but acks",
        help=f"Go over these axes alone, of {', '.join(_NAMES)}; any other has one value.",
    ),
    click.option(
        "--only",
        type=AxisValues(),
        multiple=True,
        help="Only these values of an axis, as version=hw,epoch; repeatable.",
    ),
    click.option(
        "--replicas",
        type=click.IntRange(1, REPLICAS_MAX),
        show_default="2; of --config at most 3",
        help="Replicas of the partition.",
    ),
    click.option(
        "--records",
        type=click.IntRange(1, RECORDS_MAX),
        default=2,
        show_default=True,
        help="Records that may be produced.",
    ),
    click.option(
        "--epochs",
        type=click.IntRange(0, EPOCHS_MAX),
        default=EPOCHS,
        show_default=True,
        help="Highest leader epoch, from 0.",
    ),
    click.option(
        "--invariant",
        "invariants",
        multiple=True,
        metavar="NAME",
        help=f"Only this one; repeatable. Default: {', '.join(claim.name for claim in CLAIMS)}.",
    ),
)

running_options = together(
    click.option(
        "--engine",
        type=click.Choice(["local", "spark"]),
        default="local",
        show_default=True,
        help="local: a cell a thread of this process; spark: one job, a cell a task.",
    ),
    click.option(
        "--threads", type=click.IntRange(0, 1024), default=0, help="Threads; 0: one for each core."
    ),
    click.option("--master", type=SparkMaster(), show_default="local[*]", help="Spark master."),
    click.option(
        "--spark-conf",
        type=SparkSetting(),
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of Spark's own; repeatable.",
    ),
    click.option(
        "--max-states",
        type=click.IntRange(1),
        default=STATES_MAX,
        show_default=True,
        help="Stop a cell after so many distinct states.",
    ),
)

file_options = together(
    click.option("--json", "json_file", type=_FILE, help="Write every cell there as JSON."),
    click.option("--csv", "csv_file", type=_FILE, help="Write a line for each cell there."),
    click.option("--html", "html_file", type=_FILE, help="Write one page with all traces there."),
    click.option("--svg", "svg_file", type=_FILE, help="Write the table there as a picture."),
)

config_options = together(
    click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Answer for this server.properties: what each fault can do, and what closes it.",
    ),
    click.option(
        "--topic-config",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="FILE",
        help="A topic's own .properties, which win; repeatable.",
    ),
    click.option("--acks", help="acks of the producers, with --config; default: all."),
    click.option(
        "--kafka-version", metavar="X.Y", help="The release that the brokers follow, with --config."
    ),
)


@click.command(
    "matrix",
    short_help="Verdicts over versions, settings and faults.",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@grid_options
@running_options
@file_options
@config_options
def matrix_command(**options: Any) -> int:
    """Explore a grid of versions, settings and faults as one job, and show it as a table.

    With --config it answers for one configuration: over every fault, what can be lost, and which
    changes were explored that close it.
    """
    files = {"--json": "json_file", "--csv": "csv_file", "--html": "html_file", "--svg": "svg_file"}
    for option, name in files.items():
        require_writable(option, options[name])
    choice = EngineChoice(
        name=options["engine"],
        threads=options["threads"],
        master=options["master"],
        settings=options["spark_conf"],
    )
    config = _config(options)
    grid = _grid(options, config)
    with (
        showing(Console(stderr=True)) as progress,
        exploring(grid, choice, announce=progress.announce) as explorer,
    ):
        watch = _watching(progress, "cells", sum(1 for _ in grid.cells()))
        matrix = explore_grid(grid, explorer, engine=choice.name, watch=watch)
        answer = _answer(config, matrix, explorer, progress)
    Console().print(render_config(answer) if answer else render_matrix(matrix))
    _write(options, matrix, answer)
    is_complete = answer.complete if answer else matrix.complete
    return exit_codes.HOLDS if is_complete else exit_codes.INCOMPLETE


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
    return read_config(
        options["config"],
        options["topic_config"],
        acks=options["acks"],
        kafka_version=options["kafka_version"],
        replicas=options["replicas"],
    )


def _grid(options: dict[str, Any], config: Config | None) -> Grid:
    """The grid that was asked for, checked. Raises `BadEnvironment`."""
    only = [pair for pairs in options["only"] for pair in pairs]
    asked: dict[str, Any] = {name: options[name] for name in ("records", "epochs", "max_states")}
    if options["invariants"]:
        asked["invariants"] = options["invariants"]
    if config is None:
        over = [name.strip() for name in (options["over"] or ",".join(OVER)).split(",")]
        return grid_over(over, only, replicas=options["replicas"] or 2, **asked)
    if foreign := [axis for axis, _ in only if axis != FAULT]:
        raise BadEnvironment(f"--only {foreign[0]} does not go with --config, which sets it")
    axes = config.axes(only=[value for _, value in only])
    return checked(Grid(axes=axes, replicas=config.replicas, **asked))


def _watching(progress: Progress, what: str, total: int) -> Watch:
    def watch(done: int) -> None:
        progress.tell(f"{done} of {total} {what} explored")

    watch(0)
    return watch


def _answer(
    config: Config | None, matrix: Matrix, explorer: Explorer, progress: Progress
) -> ConfigAnswer | None:
    if config is None:
        return None
    if matrix.interrupted:
        return ConfigAnswer(config, matrix, {})

    def watch(done: int) -> None:
        progress.tell(f"looking for what closes it: {counted(done, 'neighbour')} explored")

    found = remedies(config, matrix.grid, matrix.outcomes, explorer, watch=watch)
    return ConfigAnswer(config, matrix, found)


def _write(options: dict[str, Any], matrix: Matrix, answer: ConfigAnswer | None) -> None:
    told = Console(stderr=True, highlight=False, soft_wrap=True)
    writers: dict[str, Callable[[], str]] = {
        "json_file": lambda: to_text(matrix, answer),
        "csv_file": lambda: to_csv(matrix),
        "html_file": lambda: to_html(matrix, answer),
        "svg_file": lambda: to_svg(render_config(answer) if answer else render_matrix(matrix)),
    }
    for name, text in writers.items():
        if path := options[name]:
            path.write_text(text(), encoding="utf-8")
            told.print(f"wrote {path}")
