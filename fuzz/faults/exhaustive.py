"""A small run that ends at each of its changes to the disk: killed, or by a loss of power."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from fuzz.faults.attempts import Attempt, arguments_of, undergone
from fuzz.faults.dying import Death
from fuzz.faults.judging import Tally, Wrong, facts, judge

SPACE = arguments_of(
    *("--grain", "atomic", "--protocol", "hw", "--replicas", 2),
    *("--records", 1, "--log-size", 1, "--epochs", 1),
)
"""353 states in 12 levels, with violations."""
LOCAL = ("--engine", "local", "--threads", "1")
OVER_FILES = (*LOCAL, "--partitions", "2")
KINDS = (("killed", "all"), ("power", "all"), ("power", 1))


def every_death(calls: int) -> Iterator[Death]:
    """Each way to die before each call, and after the last: after any other is before the next."""
    for how, loses in KINDS:
        for at in range(calls):
            yield Death(at, False, how, loses)
        yield Death(calls - 1, True, how, loses)


def carry_out(run: Path, tally: Tally, *, watch: Callable[[int, int], None]) -> None:
    """In memory, over files, and a resume of a stopped run over files. Raises `Wrong`."""
    expected = facts(undergone(Attempt(arguments=(*SPACE, *LOCAL))).out)
    stopped = run.with_name("stopped")
    shutil.rmtree(stopped, ignore_errors=True)
    undergone(Attempt(arguments=(*SPACE, *LOCAL, "--run-dir", str(stopped), "--max-depth", "6")))
    begins = (*SPACE, "--run-dir", str(run))
    goes_on = ("--resume", str(run))
    for arguments, files_from, begun in (
        ((*begins, *LOCAL), None, None),
        ((*begins, *OVER_FILES), 20, None),
        ((*goes_on, *OVER_FILES), 20, stopped),
    ):
        _prepare(run, begun)
        calls = undergone(Attempt(arguments=arguments, files_from=files_from)).calls
        deaths = list(every_death(calls))
        for number, death in enumerate(deaths):
            watch(number, len(deaths))
            _prepare(run, begun)
            attempt = Attempt(arguments=arguments, death=death, files_from=files_from)
            tally.programs += 1
            judge(undergone(attempt), attempt, expected, tally, str(attempt))
            _end_in_peace(run, attempt, expected, tally)


def _prepare(run: Path, begun: Path | None) -> None:
    shutil.rmtree(run, ignore_errors=True)
    if begun is not None:
        shutil.copytree(begun, run)


def _end_in_peace(run: Path, attempt: Attempt, expected: object, tally: Tally) -> None:
    """Over files, with another number of owners."""
    what = ("--resume", str(run)) if (run / "manifest.json").exists() else None
    arguments = what or (*SPACE, "--run-dir", str(run))
    last = Attempt(arguments=(*arguments, *LOCAL, "--partitions", "3"), files_from=60)
    ended = undergone(last)
    if ended.code not in (0, 12):
        raise Wrong(f"{attempt}\nthen {last}: {ended}")
    judge(ended, last, expected, tally, f"{attempt}\nthen {last}")  # type: ignore[arg-type]
