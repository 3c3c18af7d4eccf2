"""Recorded traces of every sort: the catalogue's, the atomic grain's, one of somebody's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from waterline.checker.cli.shared.recorded import Recorded, load_counterexample

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "traces"
TRACES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.json"))


@cache
def confirmed_in(name: str) -> Recorded:
    return load_counterexample(FOLDER / name, None)
