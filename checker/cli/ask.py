"""`waterline ask`: the cluster as it is now, and what may be done to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from waterline.checker.cli.shared.file_options import FILES_HELP, InputFile, InputFileOrFolder
from waterline.checker.cli.shared.file_options import OutputFile as _OutputFile
from waterline.checker.cli.shared.options import options_as, together

_EPILOG = """\b
Exit codes:
  0   no acknowledged record is lost with at most one further fault; with
      --restart and the like: yes, no partition is worse off meanwhile
  12  one further fault, or none, loses a record; with --restart and the
      like: no
  2   bad usage, a bad file
  20  some partitions were not explored, or it was interrupted
  141 nobody reads the output any more, as after `| head`
  1   internal error

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskOptions:
    """The cluster, the question about it, and how the answer is found and shown."""

    config: tuple[Path, ...]
    bootstrap_server: str | None
    command_config: Path | None
    save_file: Path | None
    json_file: Path | None
    acks: str | None
    kafka_version: str | None
    restart: int | None
    stop: int | None
    zone_down: str | None
    reassign: Path | None
    rolling: bool
    faults: int
    details: bool
    no_cache: bool


@click.command("ask", epilog=_EPILOG + FILES_HELP)
@together(
    click.option(
        "--config",
        type=InputFileOrFolder(),
        multiple=True,
        metavar="FILE",
        help="Output of kafka-topics --describe, with that of kafka-features and kafka-configs as "
        "others, or a file of --save; repeatable, the last wins.",
    ),
    click.option(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help="Ask about this running cluster, which is only read.",
    ),
    click.option(
        "--command-config",
        type=InputFile(),
        metavar="FILE",
        help="Properties of the client, as Kafka's tools take them, with --bootstrap-server.",
    ),
    click.option(
        "--save",
        "save_file",
        type=_OutputFile(),
        help="Write what was read there, for --config later.",
    ),
    click.option(
        "--json",
        "json_file",
        type=_OutputFile(),
        help="Write the answer there as JSON, with the names of all partitions.",
    ),
    click.option("--acks", help="acks of the producers; default: all."),
    click.option(
        "--kafka-version",
        metavar="X.Y",
        help="The release that the brokers follow; 3.9:kraft says the manner.",
    ),
)
@together(
    click.option("--restart", type=int, metavar="BROKER", help="May this broker be restarted now?"),
    click.option("--stop", type=int, metavar="BROKER", help="May this broker be shut down now?"),
    click.option(
        "--zone-down", metavar="RACK", help="What if all brokers of this rack lose power?"
    ),
    click.option(
        "--reassign",
        type=InputFile(),
        metavar="FILE",
        help="May partitions be moved now as this JSON of kafka-reassign-partitions says?",
    ),
    click.option(
        "--rolling", is_flag=True, help="In which order may all brokers be restarted, one by one?"
    ),
    click.option(
        "--faults",
        type=click.IntRange(0, 2),
        default=1,
        show_default=True,
        help="Most further faults that are tried; 2 takes minutes for each kind of partition.",
    ),
    click.option("--details", is_flag=True, help="Show how a record is lost, step by step."),
    click.option(
        "--no-cache", is_flag=True, help="Explore all anew; what is found is kept all the same."
    ),
)
@options_as(AskOptions)
def ask_command(options: AskOptions) -> int:
    """Say how few further faults lose an acknowledged record of the cluster as it is now.

    With --restart, --stop, --zone-down, --reassign or --rolling: which partitions would be
    unavailable, refuse writes, or lose records if one more fault came meanwhile.
    """
    # Its help needs no engine.
    from waterline.checker.cli.ask_run import answer_question  # noqa: PLC0415

    return answer_question(options)
