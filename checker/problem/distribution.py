"""The distribution that this program is installed as: its name, its version, its extras.

The import name is `waterline`; a package of that name in the registry is another program.
"""

from __future__ import annotations

NAME = "waterline-checker"


def version() -> str:
    """The installed version: "1.0.0"."""
    from importlib import metadata  # noqa: PLC0415 - most commands never say it

    return metadata.version(NAME)


def install_command(extra: str) -> str:
    """The command that adds an extra, such as `kafka` or `spark`, to what is installed."""
    return f"pip install '{NAME}[{extra}]'"
