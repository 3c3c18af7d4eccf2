"""The distribution that this program is installed as: its name, its version, its extras.

The import name is `waterline`; a package of that name in the registry is another program.
"""

from __future__ import annotations

from importlib.util import find_spec

from waterline.checker.problem.errors import Missing

NAME = "waterline-checker"


def version() -> str:
    """The installed version: "1.0.0"."""
    from importlib import metadata  # noqa: PLC0415 - most commands never say it

    return metadata.version(NAME)


def install_command(extra: str) -> str:
    """The command that adds an extra, such as `kafka` or `spark`, to what is installed."""
    return f"pip install '{NAME}[{extra}]'"


def is_installed(library: str) -> bool:
    """True if a library can be imported, by its import name. It is not imported."""
    return find_spec(library) is not None


def require(library: str, extra: str, wanted_for: str) -> None:
    """See that a library which an extra brings is there. Raises `Missing`, with the remedy."""
    if not is_installed(library):
        raise Missing(
            f"{wanted_for} needs {library}, which is not installed: {install_command(extra)}"
        )
