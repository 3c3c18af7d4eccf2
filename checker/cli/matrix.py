"""`waterline matrix`: verdicts over a grid, or about a server.properties."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from waterline.checker.cli.shared.file_options import (
    FILES_HELP,
    InputFile,
    InputFileOrFolder,
    OutputFile,
)
from waterline.checker.cli.shared.options import (
    EngineOptions,
    SparkMaster,
    SparkSetting,
    options_as,
    threads_option,
    together,
)
from waterline.checker.kafka.matrix.grid import (
    AXES,
    CLAIMS,
    EPOCHS,
    EPOCHS_MAX_RAISED,
    RECORDS,
    STATES_MAX,
)
from waterline.model.message.environment import EPOCHS_MAX, RECORDS_MAX, REPLICAS_MAX

_EPILOG = """\b
Exit codes:
  0   every cell has a verdict: what is violated is the answer; with
      --config: no fault can lose an acknowledged record (--fail-on)
  12  with --config: a fault can lose an acknowledged record
  2   bad usage, a bad file
  20  some cell has none, shown as ?, or it was interrupted; with
      --config also: a smaller size was explored than yours, without a loss
  76  an action or an invariant raised an error
  141 nobody reads the output any more, as after `| head`
  1   internal error

"""
_NAMES = [axis.name for axis in AXES]
_FILE = OutputFile()


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixOptions:
    """The grid or the deployment, how it is explored, and the files to write."""

    over: str | None
    only: tuple[list[tuple[str, str]], ...]
    fluss: tuple[str, ...]
    replicas: int | None
    records: int
    epochs: int
    max_epochs: int | None
    unbounded: bool
    invariants: tuple[str, ...]
    max_states: int
    running: EngineOptions
    json_file: Path | None
    csv_file: Path | None
    html_file: Path | None
    svg_file: Path | None
    config: tuple[Path, ...]
    topic_config: tuple[Path, ...]
    bootstrap_server: str | None
    command_config: Path | None
    save_file: Path | None
    acks: tuple[tuple[str, str], ...]
    kafka_version: str | None
    quick: bool
    no_cache: bool
    details: bool
    quote: bool
    fail_on: str
    sarif_file: Path | None
    junit_file: Path | None
    github: bool


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


class AcksOfTopic(click.ParamType[tuple[str, str]]):
    """acks, and the topic that they are of; "" for all."""

    name = "[TOPIC=]ACKS"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """The topic and its acks."""
        topic, equals, acks = str(value).rpartition("=")
        if not acks or (equals and not topic):
            self.fail(f"{value!r} says no acks; write all, or orders=1", param, ctx)
        return topic, acks


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
        "--fluss",
        multiple=True,
        metavar="RELEASE",
        help="Instead of Kafka's versions: the rules of this release of Apache Fluss, 0.9.1, or "
        "main (docs/results/fluss.md); repeatable.",
    ),
    click.option(
        "--replicas",
        type=click.IntRange(1, REPLICAS_MAX),
        show_default="2; of --config at most 3",
        help="Replicas of the partition; with --config how many are explored at most.",
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
        "--unbounded/--no-unbounded",
        default=True,
        show_default=True,
        help="Explore a cell that shows no loss without bounds as well: any number of epochs, "
        "records and faults, but for those of disks.",
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
    threads_option,
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
        type=InputFileOrFolder(),
        multiple=True,
        metavar="FILE",
        help="Answer for this server.properties, custom resource, Compose or env file, output of "
        "kafka-topics, kafka-configs or kafka-features, or a folder of them (docs/operators.md); "
        "repeatable, the last wins.",
    ),
    click.option(
        "--topic-config",
        type=InputFile(),
        multiple=True,
        metavar="FILE",
        help="A topic's own .properties, which win; repeatable.",
    ),
    click.option(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="Answer for this running cluster, which is only read.",
    ),
    click.option(
        "--command-config",
        type=InputFile(),
        metavar="FILE",
        help="Properties of the client, as Kafka's tools take them, with --bootstrap-server.",
    ),
    click.option(
        "--save", "save_file", type=_FILE, help="Write what was read there, for --config later."
    ),
    click.option(
        "--acks",
        type=AcksOfTopic(),
        multiple=True,
        help="acks of the producers, of one topic or of all, with --config; repeatable; "
        "default: all.",
    ),
    click.option(
        "--kafka-version",
        metavar="X.Y",
        help="The release that the brokers follow, with --config; 3.9:kraft says the manner.",
    ),
)

answer_options = together(
    click.option(
        "--quick",
        is_flag=True,
        help="With --config: end with the first answer, within small bounds.",
    ),
    click.option(
        "--no-cache",
        is_flag=True,
        help="With --config: explore all anew, and keep no answer for the next run.",
    ),
    click.option(
        "--details",
        is_flag=True,
        help="With --config: show where each setting is from, what was tried, and commands.",
    ),
    click.option(
        "--quote",
        is_flag=True,
        help="With --config: print one sentence for each class of topics alone, with its bounds, "
        "for a README or a runbook.",
    ),
    click.option(
        "--fail-on",
        type=click.Choice(["loss", "setting", "never"]),
        default="loss",
        show_default=True,
        help="With --config: exit with 12 where a record can be lost; only where a change of "
        "settings prevents that; never.",
    ),
    click.option("--sarif", "sarif_file", type=_FILE, help="Write findings at their lines there."),
    click.option("--junit", "junit_file", type=_FILE, help="Write a test case a fault there."),
    click.option("--github", is_flag=True, help="Print findings for GitHub Actions."),
)


@click.command("matrix", epilog=_EPILOG + FILES_HELP)
@grid_options
@running_options
@file_options
@config_options
@answer_options
@options_as(MatrixOptions)
def matrix_command(options: MatrixOptions) -> int:
    """Explore a grid of versions, settings and faults as one job, and show it as a table.

    With --config or --bootstrap-server it answers for what you run: which faults can lose an
    acknowledged record, which setting is the reason, and which changes prevent that.
    """
    # Its help needs no engine, and a grid none of what reads and reports about clusters.
    from waterline.checker.cli.matrix_run import answer_matrix, is_about_deployment  # noqa: PLC0415

    if not is_about_deployment(options):
        return answer_matrix(options)
    from waterline.checker.cli.matrix_deployment import answer_deployment  # noqa: PLC0415

    return answer_deployment(options)
