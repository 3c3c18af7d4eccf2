"""`waterline cache`: shows and clears the cache of kernels and answers."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.text import Text

from waterline.checker.cli.shared.options import format_option
from waterline.checker.cli.shared.screen import say, screen
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import TITLE, columns

_KINDS = {
    "kernels": "machine code of rules",
    "answers": "what a gate found, and matrix --config",
}
_CLEARED = [*_KINDS, "all"]


@click.command("cache")
@click.option(
    "--clear",
    type=click.Choice(_CLEARED),
    help="Remove what is kept of this kind; it is made again where it is needed.",
)
@format_option
def cache_command(clear: str | None, output_format: str) -> int:
    """Show what is kept from run to run, and where; WATERLINE_CACHE names another folder."""
    # Its help needs no compiler.
    from waterline.checker.batch.keeping import answers_folder  # noqa: PLC0415
    from waterline.checker.compiler.cache import cache_directory, distrust, folder  # noqa: PLC0415

    folders = {"kernels": folder(), "answers": answers_folder()}
    if clear is not None:
        removed = sum(_clear(folders[kind]) for kind in _KINDS if clear in (kind, "all"))
        say(f"removed {removed:,} files")
    sizes = {kind: _sizes(path) for kind, path in folders.items()}
    if output_format == "json":
        kept = [
            {"kind": kind, "folder": str(folders[kind]), "files": len(found), "bytes": sum(found)}
            for kind, found in sizes.items()
        ]
        click.echo(json.dumps({"folder": str(cache_directory()), "kept": kept}, indent=1))
        return 0
    table = columns(header=TITLE)
    for title in ("Kept", "Files", "MB"):
        table.add_column(title, justify="left" if title == "Kept" else "right", no_wrap=True)
    for kind, found in sizes.items():
        table.add_row(f"{kind}: {_KINDS[kind]}", f"{len(found):,}", f"{sum(found) / 1e6:.1f}")
    screen().print(Text(f"In {cache_directory()}"), soft_wrap=True)
    screen().print(Trimmed(table))
    if reason := distrust(cache_directory()):
        say(reason)
    return 0


def _files(path: Path) -> list[Path]:
    """Return the cache's own files in a folder: regular files with the suffixes that it uses."""
    if not path.is_dir() or path.is_symlink():
        return []
    return [p for p in path.iterdir() if p.is_file() and p.suffix in (".o", ".json", ".writing")]


def _sizes(path: Path) -> list[int]:
    return [each.stat().st_size for each in _files(path)]


def _clear(path: Path) -> int:
    files = _files(path)
    for each in files:
        each.unlink(missing_ok=True)
    return len(files)
