"""A small run that ends at each of its changes to the disk: killed, or by a loss of power."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from lab.fuzz.faults.attempts import Attempt, arguments_of, undergone
from lab.fuzz.faults.dying import Death
from lab.fuzz.faults.judging import Tally, facts, judge
from lab.fuzz.rounds import Wrong

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


class EveryDeath:
    """In memory, over files, and a resume of a stopped run over files: each dies at each change."""

    def __init__(self, folder: Path) -> None:
        self._run, self._stopped = folder / "small-run", folder / "stopped"
        self._expected = facts(undergone(Attempt(arguments=(*SPACE, *LOCAL))).out)
        stops = (*SPACE, *LOCAL, "--run-dir", str(self._stopped), "--max-depth", "6")
        undergone(Attempt(arguments=stops))
        begins = (*SPACE, "--run-dir", str(self._run))
        goes_on = ("--resume", str(self._run))
        self._deaths: list[Attempt] = []
        for arguments, files_from in (
            ((*begins, *LOCAL), None),
            ((*begins, *OVER_FILES), 20),
            ((*goes_on, *OVER_FILES), 20),
        ):
            self._prepare(arguments)
            calls = undergone(Attempt(arguments=arguments, files_from=files_from)).calls
            self._deaths += (
                Attempt(arguments=arguments, death=death, files_from=files_from)
                for death in every_death(calls)
            )

    def carry_out(self, number: int, tally: Tally) -> None:
        """One of the deaths; the first follows the last. Raises `Wrong`."""
        attempt = self._deaths[number % len(self._deaths)]
        self._prepare(attempt.arguments)
        tally.programs += 1
        judge(undergone(attempt), attempt, self._expected, tally, str(attempt))
        self._end_in_peace(attempt, tally)

    def _prepare(self, arguments: tuple[str, ...]) -> None:
        shutil.rmtree(self._run, ignore_errors=True)
        if arguments[0] == "--resume":
            shutil.copytree(self._stopped, self._run)

    def _end_in_peace(self, attempt: Attempt, tally: Tally) -> None:
        """Over files, with another number of owners."""
        run = str(self._run)
        is_begun = (self._run / "manifest.json").exists()
        arguments = ("--resume", run) if is_begun else (*SPACE, "--run-dir", run)
        last = Attempt(arguments=(*arguments, *LOCAL, "--partitions", "3"), files_from=60)
        ended = undergone(last)
        if ended.code not in (0, 12):
            raise Wrong(f"{attempt}\nthen {last}: {ended}")
        judge(ended, last, self._expected, tally, f"{attempt}\nthen {last}")
