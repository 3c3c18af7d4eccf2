"""A program of every version is found again by what was looked up to write it."""

from __future__ import annotations

from tests.compiler.test_text_key import is_recorded, settled
from waterline.checker.kafka.families import GRAINS

__all__ = ["settled"]


def test_every_version_of_every_grain_has_a_key_and_a_record() -> None:
    """Where a rule reaches something that cannot be described it is slow, and nothing says so."""
    without = [
        f"{grain.name} {version}"
        for grain in GRAINS.values()
        for version in grain.versions
        if not is_recorded(grain.problem(version, grain.usual))
    ]

    assert without == []
