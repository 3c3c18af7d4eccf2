"""TOML files that a person keeps in the folder of a model."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from waterline.counterexamples.named_file import BadFile, read_named
from waterline.model.core.errors import BadEnvironment

FILE_BYTES_MAX = 1 << 22


def read_toml_text(path: Path) -> str:
    """Return the text of a file, whose lines end by a newline alone. Raises `BadEnvironment`."""
    try:
        text = read_named(path, bytes_max=FILE_BYTES_MAX).decode("utf-8-sig")
    except BadFile as problem:
        raise BadEnvironment(str(problem)) from None
    except UnicodeDecodeError:
        raise BadEnvironment(f"{path} is not UTF-8 text, as TOML is") from None
    return text.replace("\r\n", "\n")


def parse_toml(text: str, path: Path) -> dict[str, Any]:
    """Return the values of a text. Raises `BadEnvironment`, also for what Python cannot read."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise BadEnvironment(f"{path} is no TOML: it is nested too deeply") from None
    except ValueError as problem:
        raise BadEnvironment(f"{path} is no TOML: {problem}") from None
