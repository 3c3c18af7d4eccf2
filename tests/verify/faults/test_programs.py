"""Random programs of faults, and deaths at chosen places: `python -m lab.fuzz.faults` in short.

A failure prints the program; its seed repeats it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.fuzz.faults.attempts import Attempt, arguments_of, undergone
from lab.fuzz.faults.dying import Death
from lab.fuzz.faults.exhaustive import LOCAL, OVER_FILES, SPACE
from lab.fuzz.faults.judging import Tally, carry_out, facts, judge
from lab.fuzz.faults.programs import PROBLEMS, program_of
from lab.fuzz.faults.ready import make_ready


@pytest.fixture(scope="module")
def ready() -> None:
    make_ready((*(PROBLEMS[name] for name in ("hw", "atomic", "symmetric")), SPACE))


@pytest.fixture(scope="module")
def undisturbed(ready: None) -> Callable[[tuple[str, ...]], dict[str, Any]]:
    found: dict[tuple[str, ...], dict[str, Any]] = {}

    def of(arguments: tuple[str, ...]) -> dict[str, Any]:
        if arguments not in found:
            found[arguments] = facts(undergone(Attempt(arguments=(*arguments, *LOCAL))).out)
        return found[arguments]

    return of


def test_random_programs_of_faults_change_no_count(
    undisturbed: Callable[[tuple[str, ...]], dict[str, Any]], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    tally = Tally()
    programs = (program_of(seed, run) for seed in range(10_000, 10_400))
    chosen = [each for each in programs if each.problem in ("hw", "atomic", "symmetric")][:15]
    for program in chosen:
        carry_out(program, run, undisturbed(PROBLEMS[program.problem]), tally)

    assert tally.programs == 15
    assert tally.died > 6
    assert tally.refused


@pytest.mark.parametrize("how", ["killed", "power"])
def test_a_run_that_dies_over_files_goes_on_with_other_owners(
    how: str, undisturbed: Callable[[tuple[str, ...]], dict[str, Any]], tmp_path: Path
) -> None:
    """Its spilled candidates are those of another number of owners: they are not read again."""
    run = tmp_path / "run"
    expected = undisturbed(PROBLEMS["hw"])
    begins = (*PROBLEMS["hw"], *LOCAL, "--run-dir", str(run), "--partitions", "4")
    goes_on = ("--resume", str(run), *LOCAL)
    tally = Tally()
    for at in range(700, 1500, 270):
        shutil.rmtree(run, ignore_errors=True)
        dies = Attempt(arguments=begins, death=Death(at, how=how), files_from=50)
        judge(undergone(dies), dies, expected, tally, str(dies))
        for owners in ("3", "7"):
            last = Attempt(arguments=(*goes_on, "--partitions", owners), files_from=50)
            copied = tmp_path / owners
            shutil.copytree(run, copied)
            last = Attempt(
                arguments=arguments_of("--resume", copied, *LOCAL, "--partitions", owners),
                files_from=50,
            )
            judge(undergone(last), last, expected, tally, f"{dies}\nthen {last}")
            shutil.rmtree(copied)

    assert tally.died == 3
    assert tally.finished_early == 6


def test_what_a_power_loss_takes_is_never_named(
    undisturbed: Callable[[tuple[str, ...]], dict[str, Any]], tmp_path: Path
) -> None:
    """Every 29th of the deaths that `python -m lab.fuzz.faults` goes through."""
    run = tmp_path / "run"
    expected = undisturbed(SPACE)
    begins = (*SPACE, "--run-dir", str(run), *OVER_FILES)
    calls = undergone(Attempt(arguments=begins, files_from=20)).calls
    tally = Tally()
    for at in range(3, calls, 29):
        shutil.rmtree(run)
        dies = Attempt(arguments=begins, death=Death(at, how="power", loses="all"), files_from=20)
        judge(undergone(dies), dies, expected, tally, str(dies))
        begun = (run / "manifest.json").exists()
        what = ("--resume", str(run)) if begun else (*SPACE, "--run-dir", str(run))
        last = Attempt(arguments=(*what, *LOCAL), files_from=60)
        judge(undergone(last), last, expected, tally, f"{dies}\nthen {last}")

    assert tally.died == len(range(3, calls, 29))
    assert tally.finished_early == tally.died
