"""`waterline mcp`: commands of this program as tools of an assistant."""

from __future__ import annotations

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.problem.distribution import require


@click.command("mcp")
@click.option(
    "--allow-models",
    is_flag=True,
    help="Calls may name models of somebody's own: Python files, which are run.",
)
@click.option(
    "--max-time",
    type=click.IntRange(1, 86_400),
    default=120,
    show_default=True,
    metavar="SECONDS",
    help="Most seconds of a call; then its process is ended.",
)
def mcp_command(allow_models: bool, max_time: int) -> int:
    """Serve check, explain, step and mutate by the Model Context Protocol, on standard input
    and output, until the client closes them (docs/formats.md).
    """
    require("mcp", "mcp", "mcp")
    from waterline.checker.cli.mcp_server import serve  # noqa: PLC0415 - an extra

    serve(allow_models=allow_models, max_time=max_time)
    return exit_codes.HOLDS
