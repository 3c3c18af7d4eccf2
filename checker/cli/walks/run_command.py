"""`waterline run`: a model stepped through by hand, or by a script."""

from __future__ import annotations

from typing import Any

import click

from waterline.checker.cli.shared.file_options import FILES_HELP, InputFile, OutputFile
from waterline.checker.cli.shared.options import environment_options, protocol_option
from waterline.checker.cli.shared.where_options import where_option


@click.command("run", epilog=FILES_HELP)
@click.option(
    "--script",
    type=InputFile(),
    help="Take the steps of this file, and check its expectations (docs/counterexamples.md).",
)
@protocol_option
@environment_options
@click.option(
    "--invariant", "names", multiple=True, metavar="NAME", help="Only this claim; repeatable."
)
@where_option("Say after each step whether this is true; as s.leo[0] > 1.")
@click.option("--save", type=OutputFile(), help="In the end write the steps there, as a trace.")
def run_command(**options: Any) -> int:
    """Step through a model by hand: it lists what can happen, you choose; ? helps, q quits.

    From a pipe it reads the same lines. A script ends with 3 where something else came out than it
    expects, with 2 where it asks for what cannot be.
    """
    from waterline.checker.cli.walks.by_hand import by_hand  # noqa: PLC0415 - help needs no model

    return by_hand(options, click.get_current_context())
