"""`waterline explain-logs`: what brokers' logs say happened to a partition."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from waterline.checker.cli.shared.file_options import FILES_HELP, OutputFile
from waterline.checker.cli.shared.options import MAX_STATES, Seconds, format_option, options_as

HELP = f"""\b
Exit codes:
  0   a behaviour fits the logs that loses no acknowledged record
  2   bad usage, logs that cannot be read together
  12  offsets are at risk: the logs tell of a leader without what was below
      a high watermark, or every behaviour found that fits loses a record
  20  nothing was found that fits

{FILES_HELP}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainLogsOptions:
    """The command's options."""

    folders: tuple[Path, ...]
    partition: str | None
    release: str | None
    epochs: str | None
    min_insync_replicas: int
    unclean_leader_election: bool
    acks: str
    trace_file: Path | None
    output_format: str
    max_states: int | None
    max_time: float | None


@click.command("explain-logs", epilog=HELP)
@click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR..."
)
@click.option("--partition", metavar="TOPIC-N", help="Default: the one that changed leaders most.")
@click.option(
    "--kafka",
    "release",
    metavar="RELEASE",
    help="As 2.8.2, 3.9.1:kraft, 4.2.0:elr. Default: what the logs name.",
)
@click.option("--epochs", metavar="FROM-TO", help="Leader epochs, as 7-10 or 7. Default: all.")
@click.option(
    "--min-insync-replicas",
    type=click.IntRange(1, 7),
    default=1,
    show_default=True,
    help="Of the topic; more where a line says (under-min-isr).",
)
@click.option(
    "--unclean-leader-election",
    is_flag=True,
    help="If the topic has it on. It has, where a controller's line tells of an unclean election.",
)
@click.option(
    "--acks",
    type=click.Choice(["all", "1"]),
    default="all",
    show_default=True,
    help="What producers wait for.",
)
@click.option("--trace", "trace_file", type=OutputFile(), help="Write what fits, for `view`.")
@format_option
@click.option("--max-states", type=MAX_STATES, help="States of all searches. Default: 60,000.")
@click.option("--max-time", type=Seconds(), help="Seconds for all searches. Default: 120.")
@options_as(ExplainLogsOptions)
def explain_logs_command(asked: ExplainLogsOptions) -> int:
    """Find a behaviour of the model that fits the logs of brokers.

    DIR holds server.log, state-change.log, controller.log and checkpoints of the brokers of a
    partition and of controllers, any of them, rotated or packed, or files that mix pods or
    containers; and the output of kafka-dump-log --cluster-metadata-decoder. DIR may also be a file.
    docs/incidents.md describes the input and the answers.
    """
    from waterline.checker.cli.explaining_logs import explain_logs  # noqa: PLC0415

    return explain_logs(asked)
