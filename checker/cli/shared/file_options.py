"""Files and folders named by options: checked before the work, written after it.

A run of an hour must not end with a file that cannot be written. How files are read and written is
`counterexamples.named_file`'s: regular files alone, whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from waterline.checker.cli.shared.screen import say
from waterline.counterexamples.named_file import (
    BadFile,
    require_regular,
    require_replaceable,
    written_whole,
)

FILES_HELP = (
    "Files are written whole or not at all. One that exists is replaced only if it is a regular "
    "file: a symbolic link, a pipe or a device is refused."
)
"""For the end of a command's help."""


class InputFile(click.ParamType[Path]):
    """A regular file, to be read."""

    name = "FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path."""
        try:
            require_regular(value)
        except BadFile as problem:
            self.fail(str(problem), param, ctx)
        return Path(value)


class InputFileOrFolder(InputFile):
    """A regular file, or a folder of such, to be read."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path."""
        return Path(value) if Path(value).is_dir() else super().convert(value, param, ctx)


class OutputFile(click.ParamType[Path]):
    """A file that can be written, and that no other option of the command names."""

    name = "FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path."""
        if not str(value):
            self.fail("it names no file", param, ctx)
        path = Path(value)
        try:
            require_replaceable(path)
        except BadFile as problem:
            self.fail(str(problem), param, ctx)
        if ctx is not None and param is not None:
            named = ctx.meta.setdefault(__name__, {})
            other = named.setdefault(path.resolve(), param.opts[0])
            if other != param.opts[0]:
                self.fail(f"{path} is what {other} writes; name another file", param, ctx)
        return path


def make_folder(option: str, folder: Path | None) -> None:
    """See that files can be written to a folder, which is made where there is none."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise click.UsageError(f"{option}: {folder} cannot be made: {problem.strerror}") from None
    if not os.access(folder, os.W_OK):
        raise click.UsageError(f"{option}: {folder} cannot be written to; name another folder")


def new_folder(option: str, out: str) -> Path:
    """The folder that an option names, which must be on this machine, and new or empty."""
    from waterline.checker.storage.storage import BadLocation, require_new  # noqa: PLC0415 - numpy

    if not out or "://" in out:
        raise click.UsageError(f"{option}: {out!r} is no directory of this machine")
    try:
        require_new(Path(out))
    except BadLocation as found:
        raise click.UsageError(f"{option}: {found}") from None
    return Path(out)


def write_files(texts: Mapping[Path | None, Callable[[], str]]) -> None:
    """Write every file that is named, and report it.

    One that cannot be written does not prevent the others.

    Raises `BadFile`, which names all that could not be written.
    """
    refused = []
    for path, text in texts.items():
        if path is None:
            continue
        try:
            with written_whole(path) as file:
                # A name of a file may hold what is no text: spelled out, it can be written.
                file.write(text().encode("utf-8", errors="backslashreplace"))
        except BadFile as problem:
            refused.append(str(problem))
        else:
            say(f"wrote {path}")
    if refused:
        raise BadFile("; ".join(refused))
