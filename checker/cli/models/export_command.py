"""`waterline export`: a model as a module of another tool."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, make_folder, write_files
from waterline.checker.cli.shared.options import (
    environment_options,
    invariant_option,
    protocol_option,
)
from waterline.checker.cli.shared.problem_options import problem_from, take_given
from waterline.model.core.errors import BadEnvironment


@click.command("export", epilog=FILES_HELP)
@protocol_option
@environment_options
@invariant_option
@click.option("--to", "form", type=click.Choice(["tla"]), required=True, help="TLA+, for TLC.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Where to; else the current directory.",
)
def export_command(form: str, out: Path, **options: Any) -> int:
    """Write a version of Kafka's protocol, or a model of your own, as a TLA+ module, with
    configurations for TLC (docs/tla.md).
    """
    given = take_given(options)
    if "model" in given and "invariant" in given:
        raise BadEnvironment(
            f"export --to {form} writes all claims of a model of your own; leave out --invariant"
        )
    problem = problem_from(given)
    # Only this command needs what writes a module.
    from waterline.checker.tla.kafka.exported import export  # noqa: PLC0415

    module = export(problem)
    make_folder("--out", out)
    texts = {f"{module.name}.tla": module.text, f"{module.name}.cfg": module.configuration}
    if module.happening is not None:
        texts[f"{module.name}_happens.cfg"] = module.happening
    write_files({out / name: partial(str, text) for name, text in texts.items()})
    return exit_codes.HOLDS
