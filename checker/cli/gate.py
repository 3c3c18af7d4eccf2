"""`waterline gate`: files of expectations, each run and judged."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, InputFile, OutputFile
from waterline.checker.cli.shared.options import (
    DEFAULT_ENGINE,
    ENGINES,
    SparkMaster,
    options_as,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOptions:
    """The files, how they are searched, and the reports to write."""

    files: tuple[Path, ...]
    junit_file: Path | None
    sarif_file: Path | None
    gitlab_file: Path | None
    json_file: Path | None
    summary_file: Path | None
    github: bool
    allow_models: bool
    allow_spark: bool
    update: bool
    profile: str | None
    since: tuple[Path, ...]
    no_cache: bool
    jobs: int | None
    shard: tuple[int, int] | None
    engine: str | None
    master: str | None


class Share(click.ParamType[tuple[int, int]]):
    """One share of several."""

    name = "I/N"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Its number, from 1, and how many there are."""
        found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", str(value))
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            self.fail(f"{value!r} is no share; write 1/3, 2/3 or 3/3", param, ctx)
        return int(found[1]), int(found[2])


def _show_schema(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    # Only who asks for the schema needs the options of `check`.
    from waterline.checker.cli.gate_options import schema_of_check  # noqa: PLC0415

    click.echo(schema_of_check(), nl=False)
    ctx.exit(0)


_FILE = OutputFile()


@click.command("gate", epilog=f"{exit_codes.HELP}\n{FILES_HELP}")
@click.argument(
    "files", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="FILE..."
)
@click.option("--junit", "junit_file", type=_FILE, help="Write the outcomes there as JUnit XML.")
@click.option(
    "--sarif", "sarif_file", type=_FILE, help="Write the complaints there as SARIF 2.1.0."
)
@click.option(
    "--gitlab", "gitlab_file", type=_FILE, help="Write them there as a GitLab code quality report."
)
@click.option("--json", "json_file", type=_FILE, help="Write the outcomes there as JSON.")
@click.option(
    "--summary",
    "summary_file",
    type=_FILE,
    help="Write them there as Markdown, with each counterexample drawn.",
)
@click.option(
    "--github",
    is_flag=True,
    help="Print complaints as annotations of GitHub Actions, and append to its job summary.",
)
@click.option(
    "--allow-models",
    is_flag=True,
    help="Entries may name models of somebody's own: Python files, which are run.",
)
@click.option(
    "--allow-spark",
    is_flag=True,
    help="Entries may name any Spark master and setting, by which programs can be run.",
)
@click.option(
    "--update",
    is_flag=True,
    help="Rewrite counts and depths in the files to what came out, and show the difference.",
)
@click.option(
    "--profile", metavar="NAME", help="Run the entries of this profile, and those without profiles."
)
@click.option(
    "--since",
    type=InputFile(),
    multiple=True,
    help="The gate as it was; repeatable. Exit 3 if it had an entry, a claim or a bound more.",
)
@click.option("--no-cache", is_flag=True, help="Search also where nothing has changed.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    show_default="as many as cores and memory allow",
    help="How many processes search side by side.",
)
@click.option("--shard", type=Share(), help="Run only this share, as 1/3; the shares are all.")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    help=f"Of entries that name none; default: {DEFAULT_ENGINE}.",
)
@click.option("--master", type=SparkMaster(), help="Spark master of entries that name none.")
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_schema,
    help="Show the JSON Schema of a gate file.",
)
@options_as(GateOptions)
def gate_command(options: GateOptions) -> int:
    """Run the expectations in each FILE; exit 0 only if every one came out as expected.

    Ctrl-C ends all of it: what was judged until then is shown.
    """
    from waterline.checker.cli.gate_options import read_gates  # noqa: PLC0415 - help needs none

    # A file that cannot be used needs no engine.
    gates = read_gates(options)
    from waterline.checker.cli.gate_run import run_gate  # noqa: PLC0415

    return run_gate(options, gates)
