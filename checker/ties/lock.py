"""The lock file of a model: a digest of each symbol as it was when it was reviewed.

It is in the folder of the model. Each symbol has a line, so that two reviews merge and a pull
request shows which symbols were reviewed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from waterline.checker.problem.toml_file import parse_toml, read_toml_text
from waterline.model.core.errors import BadEnvironment

_HEAD = """\
# What `waterline ties` compares the code with: a digest of each symbol as it was reviewed.
# `waterline ties MODEL --reviewed SYMBOL` writes it.
"""
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})(?: .*)?$", re.MULTILINE)
_DIGEST = re.compile(r"[0-9a-f]{32}")
_AGAIN = "review the symbol again, with --reviewed"


def lock_of(model: str) -> Path:
    """The lock file of a model's file."""
    return Path(model).with_suffix(".ties.toml")


def read_lock(path: Path) -> dict[str, str]:
    """Return digests by symbol, empty without a file. Raises `BadEnvironment`."""
    if not path.is_symlink() and not path.exists():
        return {}
    text = read_toml_text(path)
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        raise BadEnvironment(
            f"{path}:{line}: a merge left both sides here; take either, and review again what "
            "`waterline ties` then names"
        )
    found = parse_toml(text, path)
    for symbol, digest in found.items():
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise BadEnvironment(f"{path}: {symbol!r} has no digest but {digest!r}; {_AGAIN}")
    return found


def lock_text(digests: Mapping[str, str]) -> str:
    """The text of a lock file."""
    return _HEAD + "".join(f'"{symbol}" = "{digests[symbol]}"\n' for symbol in sorted(digests))
