"""Small inputs as people have them (tests/cases): each comes out as its case says."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Commands

FOLDER = Path(__file__).parent / "cases"
CASES = sorted(path.parent for path in FOLDER.glob("*/case.toml"))
LONG = {"reassignment-cancelled", "20-template-marks-in-a-comment"}
"""Of seconds: tests/verify runs them."""
KEYS = {"why", "command", "exit", "prints", "never"}


def _expected(case: Path) -> dict[str, Any]:
    with (case / "case.toml").open("rb") as file:
        expected = tomllib.load(file)
    assert {"why", "command", "exit"} <= set(expected) <= KEYS
    return expected


def assert_comes_out_as_it_should(case: Path, cli: Commands) -> None:
    expected = _expected(case)
    shutil.copytree(case, Path.cwd(), dirs_exist_ok=True)

    code, out, err = cli(*expected["command"], name="waterline")

    printed = " ".join(f"{out} {err}".split())
    missing = [text for text in expected.get("prints", []) if text not in printed]
    wrong = [text for text in expected.get("never", []) if text in printed]
    assert (code, missing, wrong) == (expected["exit"], [], []), printed


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name not in LONG], ids=lambda case: case.name
)
def test_a_case_comes_out_as_it_should(case: Path, cli: Commands) -> None:
    assert_comes_out_as_it_should(case, cli)
