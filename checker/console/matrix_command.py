"""`waterline matrix`: verdicts over a grid, or about a server.properties."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import click

from checker.console import exit_codes
from checker.console.ending import ending_as_by_ctrl_c
from checker.console.file_options import FILES_HELP, InputFile, OutputFile, write_files
from checker.console.options import SparkMaster, SparkSetting, together
from checker.console.progress import Progress, showing
from checker.console.screen import error_screen, screen
from checker.engines.choice import EngineChoice
from checker.matrix.advice import advice
from checker.matrix.config_table import ConfigAnswer, render_config
from checker.matrix.files import to_csv, to_text
from checker.matrix.grid import (
    AXES,
    CLAIMS,
    EPOCHS,
    EPOCHS_MAX_RAISED,
    FAULT,
    OVER,
    RECORDS,
    STATES_MAX,
    Grid,
    checked,
    first_records,
    grid_over,
)
from checker.matrix.kinship import kin_of
from checker.matrix.matrix import Matrix, explore_grid
from checker.matrix.page import to_html
from checker.matrix.picture import to_svg
from checker.matrix.properties import Config, read_config
from checker.matrix.raising import Follow, Rung
from checker.matrix.running import Explorer, exploring
from checker.matrix.table import render_matrix
from checker.wording import counted
from model.environment import EPOCHS_MAX, RECORDS_MAX, REPLICAS_MAX, BadEnvironment

_EPILOG = """\b
Exit codes:
  0   every cell has a verdict: what is violated is the answer
  2   bad usage, a bad file
  20  some cell has none, shown as ?, or it was interrupted
  76  an action or an invariant raised an error
  141 nobody reads the output any more, as after `| head`
  1   internal error

"""
_NAMES = [axis.name for axis in AXES]
_FILE = OutputFile()


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
        default=RECORDS,
        show_default=True,
        help="Records that may be produced; with 3 replicas and more 1 is explored first.",
    ),
    click.option(
        "--epochs",
        type=click.IntRange(0, EPOCHS_MAX),
        default=EPOCHS,
        show_default=True,
        help="Highest leader epoch, from 0, that a cell begins with.",
    ),
    click.option(
        "--max-epochs",
        type=click.IntRange(0, EPOCHS_MAX),
        show_default=str(EPOCHS_MAX_RAISED),
        help="Raise it so far while a cell shows no loss and later epochs are cut.",
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
        help="Most distinct states of a cell; no bound is raised beyond them.",
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
        type=InputFile(),
        metavar="FILE",
        help="Answer for this server.properties: what each fault can do, and what closes it.",
    ),
    click.option(
        "--topic-config",
        type=InputFile(),
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
    epilog=_EPILOG + FILES_HELP,
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
    choice = EngineChoice(
        name=options["engine"],
        threads=options["threads"],
        master=options["master"],
        settings=options["spark_conf"],
    )
    config = _config(options)
    grid = _grid(options, config)
    with (
        ending_as_by_ctrl_c(),
        showing(error_screen()) as progress,
        exploring(choice, announce=progress.announce) as explorer,
    ):
        matrix = explore_grid(grid, explorer, engine=choice.name, follow=_following(progress))
        answer = _answer(config, matrix, explorer, progress)
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
    }
    if options["invariants"]:
        asked["invariants"] = options["invariants"]
    if config is None:
        over = [name.strip() for name in (options["over"] or ",".join(OVER)).split(",")]
        return grid_over(over, only, **asked)
    if foreign := [axis for axis, _ in only if axis != FAULT]:
        raise BadEnvironment(f"--only {foreign[0]} does not go with --config, which sets it")
    axes = config.axes(only=[value for _, value in only])
    return checked(Grid(axes=axes, **asked))


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
        progress.tell(
            f"{counted(rung.records, 'record')}, epochs 0 to {rung.epochs}: "
            f"{done} of {counted(len(rung.cells), what)} explored, {left} left{doing}"
        )

    return follow


def _answer(
    config: Config | None, matrix: Matrix, explorer: Explorer, progress: Progress
) -> ConfigAnswer | None:
    if config is None:
        return None
    if matrix.interrupted:
        return ConfigAnswer(config, matrix)
    follow = _following(progress, "neighbour")
    found = advice(config, matrix.grid, matrix.outcomes, explorer, follow=follow)
    progress.tell("looking for what is like it in the catalogue")
    kin = kin_of(matrix.grid, matrix.outcomes, explorer)
    return ConfigAnswer(config, matrix, found, kin)


def _write(options: dict[str, Any], matrix: Matrix, answer: ConfigAnswer | None) -> None:
    writers: dict[str, Callable[[], str]] = {
        "json_file": lambda: to_text(matrix, answer),
        "csv_file": lambda: to_csv(matrix),
        "html_file": lambda: to_html(matrix, answer),
        "svg_file": lambda: to_svg(render_config(answer) if answer else render_matrix(matrix)),
    }
    write_files({options[name]: text for name, text in writers.items() if options[name]})
