"""What can happen to the files of a run while nobody uses it."""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

KINDS = ("flip", "truncate", "empty", "remove", "append", "swap", "copy", "plant")


@dataclass(frozen=True, slots=True)
class Damage:
    """One kind of damage to a file, or two, that `seed` chooses."""

    kind: str
    seed: int

    def __str__(self) -> str:
        return f"{self.kind} (seed {self.seed})"


def undergo(damage: Damage, run: Path) -> str:
    """Damage a file of a run; says what was done."""
    drawn = random.Random(damage.seed)
    files = sorted(path for path in run.rglob("*") if path.is_file() and path.stat().st_size)
    states = [path for path in files if path.suffix == ".states"]
    if damage.kind in ("swap", "copy", "plant"):
        return _among(damage.kind, states, run, drawn) if len(states) > 1 else "nothing"
    manifest = run / "manifest.json"
    # As often the manifest as any of the others, which are many.
    one = manifest if drawn.random() < 0.4 and manifest in files else drawn.choice(files)
    before = one.read_bytes()
    if damage.kind == "remove":
        one.unlink()
    else:
        one.write_bytes(_changed(damage.kind, before, drawn))
    return f"{damage.kind} {one.relative_to(run)} of {len(before)} bytes"


def _changed(kind: str, data: bytes, drawn: random.Random) -> bytes:
    """The contents of a damaged file."""
    if kind == "flip":
        place = drawn.randrange(8 * len(data))
        changed = bytearray(data)
        changed[place // 8] ^= 1 << place % 8
        return bytes(changed)
    if kind == "truncate":
        return data[: drawn.randrange(len(data))]
    if kind == "append":
        return data + drawn.randbytes(drawn.choice((1, 8, 16, 48)))
    return b""


def _among(kind: str, states: list[Path], run: Path, drawn: random.Random) -> str:
    """Files of states in each other's place, or where no attempt of this run put one."""
    left, right = drawn.sample(states, 2)
    if kind == "plant":
        # What another program, or another version of this one, may have left.
        for name in ("candidates/00005/00001.states", "visited/t1-00005-00001.states"):
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(left, run / name)
        shutil.copyfile(left, right.with_name(f"t{drawn.randrange(1, 5)}-00000.states"))
        return f"planted copies of {left.relative_to(run)}"
    before = right.read_bytes()
    shutil.copyfile(left, right)
    if kind == "swap":
        left.write_bytes(before)
    return f"{kind} {left.relative_to(run)} and {right.relative_to(run)}"
