"""`waterline new`: writes a first model file."""

from __future__ import annotations

import keyword
from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import write_files
from waterline.checker.user_models.start import start_of
from waterline.model.core.errors import BadEnvironment


@click.command("new")
@click.argument("name")
def new_command(name: str) -> int:
    """Write NAME.py: a small protocol, with remarks, that `check --model NAME.py` explores."""
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        raise BadEnvironment(f"{name!r} is no name of a function; use letters, digits and _")
    path = Path(f"{name}.py")
    if path.exists() or path.is_symlink():
        raise BadEnvironment(f"{path} is there already; name another, or remove it")
    write_files({path: lambda: start_of(name)})
    return exit_codes.HOLDS
