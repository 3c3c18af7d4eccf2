"""`waterline export`: a user's model as a module of another tool."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from checker.cli.shared import exit_codes
from checker.cli.shared.file_options import FILES_HELP, make_folder, write_files
from checker.cli.shared.own_options import bound_option, model_option, vetted_problem
from model.core.errors import BadEnvironment


@click.command("export", epilog=FILES_HELP)
@model_option
@bound_option
@click.option("--to", "form", type=click.Choice(["tla"]), required=True, help="TLA+, for TLC.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Where to; else the current directory.",
)
def export_command(
    own_model: str | None, bounds: tuple[tuple[str, int | bool], ...], form: str, out: Path
) -> int:
    """Write a model of your own as a TLA+ module, with configurations for TLC (docs/tla.md)."""
    if own_model is None:
        raise BadEnvironment(f"export --to {form} is of a model of your own; give --model FILE")
    problem = vetted_problem(own_model, dict(bounds))
    # Only this command needs what writes a module.
    from checker.tla.module import module_of  # noqa: PLC0415
    from checker.tla.subject import subject_of  # noqa: PLC0415
    from checker.user_models.family import built_of  # noqa: PLC0415

    module = module_of(subject_of(*built_of(problem)))
    make_folder("--out", out)
    texts = {f"{module.name}.tla": module.text, f"{module.name}.cfg": module.configuration}
    if module.happening is not None:
        texts[f"{module.name}_happens.cfg"] = module.happening
    write_files({out / name: partial(str, text) for name, text in texts.items()})
    return exit_codes.HOLDS
