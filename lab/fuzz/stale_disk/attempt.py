"""One attack: what each door says before a change, and after it.

Before the change the claim holds, after it the claim is violated, or the other way round. At each
door what comes after is the new truth, a refusal that names file and line, or WRONG.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.fuzz.stale_disk.processes import Commands, Done

DOORS = ("check", "gate", "resume")
SETTLED = 1_700_000_000
"""When every file of a case was written, as it says: a change keeps the time, and may keep the
size, so nothing can go by them."""
_GATE = """\
[[expect]]
name = "expected"
model = "m.py"
engine = "local"
verdicts = { low = "holds" }
"""
_ANOTHER = """\
from waterline import Number, Protocol


def still() -> Protocol:
    return Protocol(fields=[Number("y", 0, 2)], actions=[stay], always=[fine])


def stay(s):
    s.y = 1


def fine(s):
    return s.y < 2
"""
_LOCAL = ("--model", "m.py", "--engine", "local")
_PLACE = re.compile(r"\w\.py:\d+")


@dataclass(frozen=True, slots=True)
class Case:
    """Files before and after one change, with the verdicts that are known by hand.

    A file whose text begins with `->` is a symbolic link. `environment` is that of the commands.
    Where the change is none that matters, `holds` and `still_holds` are the same.
    """

    name: str
    before: Mapping[str, str]
    after: Mapping[str, str]
    holds: bool = True
    still_holds: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    environment_after: Mapping[str, str] = field(default_factory=dict)

    def reversed(self) -> Case:
        """The change back."""
        return Case(
            self.name,
            self.after,
            self.before,
            self.still_holds,
            self.holds,
            self.environment_after,
            self.environment,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a door did: "right", "kept", "refused", "UNPLACED", "WRONG"; and what was seen."""

    what: str
    seen: str = ""


def outcomes(
    case: Case, commands: Commands, folder: Path, doors: tuple[str, ...] = DOORS
) -> dict[str, Outcome]:
    """What each door says after the change, in an empty `folder`."""
    found = {}
    asked = tuple(door for door in doors if door != "resume")
    if asked:
        attack = _Attack(case, commands, folder / "asked")
        attack.write(case.before)
        first = attack.begin(asked)
        attack.change()
        found = {door: first or attack.after(door) for door in asked}
    if "resume" in doors:
        found["resume"] = _resumed(_Attack(case.reversed(), commands, folder / "resumed"))
    return found


def kept(case: Case, commands: Commands, folder: Path) -> dict[str, Outcome]:
    """What each door says where nothing has changed: "kept", or what it did instead."""
    attack = _Attack(case, commands, folder / "kept")
    attack.write(case.before)
    first = attack.begin(("gate", "check"))
    if first is not None:
        return dict.fromkeys(("gate", "check"), first)
    attack.write(case.before)
    compiled = attack.machine_code()
    checked = attack.check()
    new_code = attack.machine_code() - compiled
    gated = attack.gate()
    return {
        "gate": _kept(gated.code == (0 if case.holds else 3) and "kept" in gated.out, gated),
        "check": _kept(checked.code == (0 if case.holds else 12) and not new_code, checked),
    }


def _resumed(attack: _Attack) -> Outcome:
    """A run is begun with the value that breaks the claim, and resumed with the other one.

    It has then explored what cannot be reached any more: only a refusal, or a run begun anew, does.
    """
    attack.write(attack.case.before)
    begun = attack.check("--run-dir", str(attack.run), "--max-depth", "4")
    if begun.code not in {0, 12, 20}:
        return _refused(begun)
    attack.change()
    return attack.after("resume")


class _Attack:
    """A case in its folder, with a cache of its own."""

    def __init__(self, case: Case, commands: Commands, folder: Path) -> None:
        self.case = case
        self.is_after = False
        self._commands = commands
        self._files = folder / "files"
        self.run = folder / "run"
        self._cache = folder / "cache"
        shutil.copytree(_warm(commands, folder.parents[1] / "warm"), self._cache)

    def write(self, files: Mapping[str, str]) -> None:
        """Leave these files and no others, all of the same age."""
        shutil.rmtree(self._files, ignore_errors=True)
        for name, text in {**files, "gate.toml": _GATE}.items():
            path = self._files / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text.startswith("->"):
                path.symlink_to(text[2:])
            else:
                path.write_text(text)
        for path in self._files.rglob("*"):
            os.utime(path, (SETTLED, SETTLED), follow_symlinks=False)

    def check(self, *more: str) -> Done:
        """Check the model."""
        return self._command("check", *_LOCAL, *more)

    def gate(self) -> Done:
        """Run the gate."""
        return self._command("waterline", "gate", "gate.toml", "--allow-models", "--jobs", "1")

    def _command(self, *command: str) -> Done:
        environment = {"WATERLINE_CACHE": str(self._cache), **self.case.environment}
        if self.is_after:
            environment.update(self.case.environment_after)
        if "PYTHONPATH" in environment:
            places = environment["PYTHONPATH"].split(os.pathsep)
            environment["PYTHONPATH"] = os.pathsep.join(str(self._files / p) for p in places)
        return self._commands(self._files, *command, environment=environment)

    def machine_code(self) -> set[Path]:
        """The files of machine code, and of what they are called."""
        return set(self._cache.rglob("*.o"))

    def change(self) -> None:
        """Make the change."""
        self.write(self.case.after)
        self.is_after = True

    def begin(self, doors: tuple[str, ...]) -> Outcome | None:
        """Leave behind what doors could answer from; an outcome where they do not get so far."""
        for door in doors:
            done = self.check() if door == "check" else self.gate()
            broken = 12 if door == "check" else 3
            if done.code != (0 if self.case.holds else broken):
                return _refused(done)
        return None

    def after(self, door: str) -> Outcome:
        """What a door says now."""
        truth, stale = (0, 12) if self.case.still_holds else (12, 0)
        if door == "gate":
            done = self.gate()
            truth, stale = (0, 3) if self.case.still_holds else (3, 0)
        elif door == "check":
            done = self.check()
        else:
            done = self.check("--resume", str(self.run))
        if done.code == truth:
            is_kept = door == "gate" and "kept" in done.out
            return Outcome("kept" if is_kept else "right", _last(done))
        if done.code == stale:
            described = "kept" if door == "gate" and "kept" in done.out else "computed"
            return Outcome("WRONG", f"exit {done.code}, {described}: {_last(done)}")
        if door == "resume" and done.code == 2 and "Traceback" not in done.err:
            return Outcome("refused", _last(done))
        found = _refused(done)
        # Begun well and then refused for no place: a stale answer that the replay did not confirm.
        return Outcome("WRONG", found.seen) if found.what == "UNPLACED" else found


def _warm(commands: Commands, folder: Path) -> Path:
    """A cache with the machine code that no model's rules are in, made once, to be copied."""
    cache = folder / "cache"
    if not folder.exists():
        cache.mkdir(parents=True, mode=0o700)
        (folder / "m.py").write_text(_ANOTHER)
        environment = {"WATERLINE_CACHE": str(cache)}
        commands(folder, "check", *_LOCAL, environment=environment)
        commands(folder, "check", *_LOCAL, "--run-dir", "run", environment=environment)
    return cache


def _kept(is_kept: bool, done: Done) -> Outcome:
    return Outcome("kept" if is_kept else "recomputed", _last(done))


def _refused(done: Done) -> Outcome:
    """A refusal, if it is one; UNPLACED where it names no file with a line."""
    described = f"exit {done.code}: {_last(done)}"
    if done.code not in {2, 3} or "Traceback" in done.err:
        return Outcome("WRONG", described)
    return Outcome("refused" if _PLACE.search(done.out + done.err) else "UNPLACED", described)


def _last(done: Done) -> str:
    """The line that says it."""
    lines = [line.strip() for line in (done.err + done.out).splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line or _PLACE.search(line)]
    return (errors or lines or [""])[-1][:160]
