"""Files that a command is asked to write."""

from __future__ import annotations

import os
from pathlib import Path

import click


def require_writable(option: str, path: Path | None) -> None:
    """A run of an hour must not end with a file that cannot be written."""
    if path is not None and not os.access(path if path.exists() else path.parent, os.W_OK):
        raise click.UsageError(f"{option}: {path} cannot be written; name another place")
