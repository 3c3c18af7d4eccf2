"""What a command does not need it does not import: each in a process of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_imports import (
    ARROW,
    CASES,
    SEARCH,
    SMALL,
    assert_completes,
    beginning_with,
    folder,
    libraries_in,
    loaded,
    top_level,
    unexpected,
)

__all__ = ["folder"]


@pytest.mark.parametrize("command", CASES)
def test_a_command_imports_only_what_it_uses(command: str, folder: Path) -> None:
    if command.startswith("waterline states kept"):
        loaded(f"check {SMALL} --engine local --run-dir kept", folder)
    if command.startswith("waterline certify certificate"):
        loaded(f"check {SMALL} --engine local --certificate certificate", folder)
    code, modules, told = loaded(command, folder)

    assert unexpected(command, code, modules, folder) == [], told


@pytest.mark.spark
def test_spark_is_imported_where_it_explores_and_nothing_beside(folder: Path) -> None:
    command = f"check {SMALL} --engine spark --master local[1] --driver-levels 0"
    code, modules, told = loaded(command, folder)

    assert code == 0, told
    spark = {"pyspark", "py4j"}
    assert spark <= top_level(modules)
    # PySpark imports these as it starts a context, where they are installed.
    assert libraries_in(modules, folder) - SEARCH - spark - ARROW - {"google"} == set()
    assert (
        beginning_with(
            ("waterline.checker.kafka.matrix", "waterline.checker.analysis.export"), modules
        )
        == set()
    )


@pytest.mark.parametrize(
    ("words", "last", "expected"),
    [
        ("waterline s", 1, {"scenarios", "simulate", "states"}),
        ("waterline --", 1, {"--version", "--help"}),
    ],
    ids=["a command", "an option"],
)
def test_what_a_shell_completes_is_told_without_an_engine(
    words: str, last: int, expected: set[str], folder: Path
) -> None:
    assert_completes(words, last, expected, folder)
