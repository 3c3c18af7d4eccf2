"""What must be true of a run that was disturbed, whatever disturbed it."""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lab.fuzz.faults.attempts import Attempt, Ended, Started, arguments_of, disturb, undergone
from lab.fuzz.faults.damage import Damage, undergo
from lab.fuzz.faults.programs import PROBLEMS, Program, Together, in_peace
from lab.fuzz.rounds import Wrong

ENGINES_OWN = {
    "engine",
    "explored_on",
    "seconds",
    "level_seconds",
    "prepare_seconds",
    "peak_rss_bytes",
}
"""What a report says of how it was found out, not of what."""
COMPLETE = (0, 12)
STOPPED = 20
REFUSED = 2
FAILED = 1
_LATE_SECONDS = 3
"""So long a task of a driver that was killed may go on."""


@dataclass(slots=True)
class Tally:
    """How programs went."""

    programs: int = 0
    attempts: int = 0
    died: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    finished_early: int = 0
    met: Counter[str] = field(default_factory=Counter)
    """Places of attempts, and disturbances that came to pass."""

    def refuse(self, why: str) -> None:
        """A file or a directory was refused, by its name."""
        self.refused[why] = self.refused.get(why, 0) + 1

    def counts(self) -> dict[str, int]:
        """All of it, by words."""
        return {
            "programs and deaths": self.programs,
            "attempts": self.attempts,
            "attempts that died": self.died,
            "attempts that finished in spite of it": self.finished_early,
            **{f"refused by name: {why}": count for why, count in self.refused.items()},
            **self.met,
        }


def facts(output: str) -> dict[str, Any]:
    """What a run found out: all but how long it took, and where."""
    report = json.loads(output)
    return {name: value for name, value in report.items() if name not in ENGINES_OWN}


def undisturbed(problem: str) -> dict[str, Any]:
    """What the problem comes to in memory, with one thread."""
    arguments = arguments_of(*PROBLEMS[problem], "--engine", "local", "--threads", 1)
    ended = undergone(Attempt(arguments=arguments))
    if ended.code not in COMPLETE:
        raise Wrong(f"{problem}: {ended}")
    return facts(ended.out)


def carry_out(program: Program, run: Path, expected: dict[str, Any], tally: Tally) -> None:
    """Do all that a program says, then finish the run in peace. Raises `Wrong`."""
    drawn = random.Random(program.seed)
    tally.programs += 1
    shutil.rmtree(run, ignore_errors=True)
    begun = Attempt(arguments=arguments_of(*PROBLEMS[program.problem], "--run-dir", run))
    for number, step in enumerate(program.steps, start=1):
        where = f"{program}\nat step {number}"
        if isinstance(step, Damage):
            if _has_a_run(run):
                _damaged(step, run, expected, tally, drawn, where)
        elif isinstance(step, Together):
            if _has_a_run(run):
                _together(step, expected, tally, where)
        else:
            is_lost = number > 1 and not _has_a_run(run)
            attempt = _begun_anew(step, program, run) if is_lost else step
            judge(undergone(attempt), attempt, expected, tally, where)
    last = in_peace(drawn, run) if _has_a_run(run) else begun
    if last is begun:
        last = Attempt(arguments=(*begun.arguments, "--engine", "local"))
    _finished(undergone(last), expected, f"{program}\nat the end, {last}")
    if _left(run) and any(isinstance(step, Attempt) and step.place for step in program.steps):
        time.sleep(_LATE_SECONDS)
        _finished(undergone(in_peace(drawn, run)), expected, f"{program}\nonce more")
    if left := _left(run):
        raise Wrong(f"{program}\nleft {left}")


def _left(run: Path) -> list[str]:
    """Files that no attempt needs any more."""
    return sorted(
        path.name for path in run.iterdir() if path.name.startswith(("work-", ".writing-"))
    )


def judge(
    ended: Ended, attempt: Attempt, expected: dict[str, Any], tally: Tally, where: str
) -> None:
    """An attempt died as it should, or said why it ended, or found what there is."""
    tally.attempts += 1
    if attempt.place is not None:
        tally.met.update([f"attempts on {attempt.place.name}", *ended.met])
    _require_no_traceback(ended, where)
    if _was_killed(ended, attempt):
        tally.died += 1
        tally.met[f"driver {attempt.death.how if attempt.death else 'killed by a signal'}"] += 1
    elif ended.code in COMPLETE and not _was_stopped(ended):
        tally.finished_early += 1
        _finished(ended, expected, where)
    elif ended.code in (STOPPED, *COMPLETE):
        _require_prefix(ended, expected, where)
    elif ended.code == REFUSED and _may_be_full(attempt):
        _require_one_line(ended, where)
        tally.refuse("full disk")
    elif ended.code in (REFUSED, FAILED) and "Spark hit" in ended.met:
        _require_one_line(ended, where)
        tally.refuse("Spark is gone")
    else:
        raise Wrong(f"{where}: {ended}")


def _may_be_full(attempt: Attempt) -> bool:
    return "full" in [each.how for each in (attempt.death, attempt.fault) if each is not None]


def _was_killed(ended: Ended, attempt: Attempt) -> bool:
    """True if it ended by the signal that was meant for it."""
    if ended.code == -signal.SIGKILL:
        return bool(attempt.death or attempt.signal)
    return ended.code == -signal.SIGTERM and bool(attempt.signal)


def _has_a_run(run: Path) -> bool:
    return (run / "manifest.json").exists()


def _begun_anew(attempt: Attempt, program: Program, run: Path) -> Attempt:
    """The same attempt where the run was killed before there was anything to resume."""
    options = attempt.arguments[2:]
    begins = arguments_of(*PROBLEMS[program.problem], "--run-dir", run)
    return replace(attempt, arguments=(*begins, *options))


def _damaged(
    damage: Damage,
    run: Path,
    expected: dict[str, Any],
    tally: Tally,
    drawn: random.Random,
    where: str,
) -> None:
    """A resume after damage refuses what is damaged by its name, or did not need it."""
    # Another place: a late task writes to the run.
    copy = run.with_name(f"{run.name}-damaged")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy)
    done = undergo(damage, copy)
    ended = undergone(in_peace(drawn, copy))
    tally.attempts += 1
    text = f"{where}: {damage}, {done}"
    _require_no_traceback(ended, text)
    if ended.code == REFUSED:
        _require_one_line(ended, text)
        if str(copy) not in ended.err:
            raise Wrong(f"{text}: names no file: {ended}")
        tally.refuse(damage.kind)
    else:
        _finished(ended, expected, text)


def _together(step: Together, expected: dict[str, Any], tally: Tally, where: str) -> None:
    both = [Started(attempt) for attempt in step.attempts]
    for started, attempt in zip(both, step.attempts, strict=True):
        if attempt.signal:
            disturb(started, attempt.signal)
    ends = [started.wait() for started in both]
    for ended, attempt in zip(ends, step.attempts, strict=True):
        if ended.code == REFUSED and "is in use by another run" in ended.err:
            _require_one_line(ended, where)
            tally.attempts += 1
            tally.refuse("in use")
        else:
            judge(ended, attempt, expected, tally, where)


def _was_stopped(ended: Ended) -> bool:
    return not json.loads(ended.out)["complete"]


def _finished(ended: Ended, expected: dict[str, Any], where: str) -> None:
    _require_no_traceback(ended, where)
    if ended.code not in COMPLETE:
        raise Wrong(f"{where}: {ended}")
    found = facts(ended.out)
    if found != expected:
        names = [name for name in expected if found.get(name) != expected[name]]
        text = {name: (found.get(name), expected[name]) for name in names if name != "invariants"}
        raise Wrong(f"{where}: other {names}: {text}")


def _require_prefix(ended: Ended, expected: dict[str, Any], where: str) -> None:
    """What a stopped run says of the levels that it finished."""
    if not ended.out:
        return  # Interrupted before there was anything to say.
    levels = json.loads(ended.out)["levels"]
    if levels != expected["levels"][: len(levels)]:
        raise Wrong(f"{where}: levels are {levels}")


def _require_no_traceback(ended: Ended, where: str) -> None:
    if "Traceback" in ended.err or "Exception ignored" in ended.err:
        raise Wrong(f"{where}: {ended.code}: {ended.err}")


def _require_one_line(ended: Ended, where: str) -> None:
    errors = [line for line in ended.err.splitlines() if line.startswith("error: ")]
    if len(errors) != 1 or ended.out:
        raise Wrong(f"{where}: not one line of error: {ended}")
