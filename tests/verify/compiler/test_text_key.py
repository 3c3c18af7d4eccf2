"""A program of every version is found again by what was looked up to write it; edits are seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiler import test_cache
from tests.compiler.test_text_key import assert_written_anew, is_recorded, settled, written
from tests.support.edited_rules import EDITS
from waterline.checker.kafka.families import GRAINS

__all__ = ["settled", "written"]


def test_every_version_of_every_grain_has_a_key_and_a_record() -> None:
    """Where a rule reaches something that cannot be described it is slow, and nothing says so."""
    without = [
        f"{grain.name} {version}"
        for grain in GRAINS.values()
        for version in grain.versions
        if not is_recorded(grain.problem(version, grain.usual))
    ]

    assert without == []


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_writes_the_text_anew(edit: str, tmp_path: Path, written: list[str]) -> None:
    assert_written_anew(edit, tmp_path, written)


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_gives_another_kernel_and_other_rules(edit: str, tmp_path: Path) -> None:
    test_cache.assert_another_kernel(edit, tmp_path)
