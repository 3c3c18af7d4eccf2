"""Releases of Apache Fluss for replays, and what each needs to run here."""

from __future__ import annotations

from dataclasses import dataclass

from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.model.message.fluss import RELEASES, fluss_release
from waterline.model.message.releases import UnknownRelease

_STEERED = ("0.9.1",)
"""Releases whose classes the Java code in this folder was compiled and run against."""


@dataclass(frozen=True, slots=True)
class FlussRelease:
    """`version` as in the registry; `rules` is the model's version that describes it."""

    version: str
    rules: str
    product: str = "Fluss"

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Maven coordinates: one jar that holds all that it needs."""
        return (f"org.apache.fluss:fluss-server:{self.version}",)

    @property
    def title(self) -> str:
        """`Fluss 0.9.1-incubating`."""
        return f"{self.product} {self.version}"


def steered_release(text: str) -> FlussRelease:
    """The release `0.9.1`, with or without `-incubating`. Raises `CannotConfirm`."""
    number = text.removesuffix("-incubating")
    if number not in _STEERED:
        known = " or ".join(_STEERED)
        why = "its jars are not published" if number in RELEASES else "its rules were not looked up"
        raise CannotConfirm(f"--fluss {text}: {why}, or it was not steered yet; give {known}")
    try:
        return FlussRelease(f"{number}-incubating", fluss_release(number).name)
    except UnknownRelease as problem:
        raise CannotConfirm(f"--fluss: {problem}") from None
