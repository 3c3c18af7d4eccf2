"""Mutants that nothing need notice, each with the reason: a TOML file in the model's folder.

    [expire]
    "drop when(s.holder is not None)" = "a free lease does not expire"

A table for each rule, a line for each change, in the words of the report.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from waterline.checker.mutants.judging import OPEN, Judgement
from waterline.checker.mutants.mutants import Mutant
from waterline.checker.problem.toml_file import parse_toml, read_toml_text
from waterline.checker.user_models.loading import OwnFile
from waterline.model.core.errors import BadEnvironment, nearest

Reasons: TypeAlias = Mapping[tuple[str, str], str]
"""Reasons by rule and change."""


def reasons_for(own: OwnFile, mutants: Sequence[Mutant], file: Path | None = None) -> Reasons:
    """Return the reasons of a file, by default of `MODEL.mutants.toml` in the model's folder.

    Without that file there are none. Raises `BadEnvironment`.
    """
    path = file or Path(own.file).with_suffix(".mutants.toml")
    if file is None and not path.exists():
        return {}
    reasons = _read(path)
    _require_known(path, reasons, mutants, own.names)
    return reasons


def _read(path: Path) -> Reasons:
    found: dict[tuple[str, str], str] = {}
    for rule, changes in parse_toml(read_toml_text(path), path).items():
        if not isinstance(changes, dict):
            raise BadEnvironment(
                f"{path}: {rule} is in no table; write a table for each rule: [{rule}]"
            )
        for change, reason in changes.items():
            if not isinstance(reason, str) or not reason.strip():
                raise BadEnvironment(f"{path}: [{rule}] {change!r} has no reason; write one")
            found[rule, change] = reason
    return found


def _require_known(
    path: Path, reasons: Reasons, mutants: Iterable[Mutant], functions: Container[str]
) -> None:
    """Refuse a file that accepts something else than a mutant of the model.

    A function without mutants within these bounds may have lines, for other bounds. Raises
    `BadEnvironment`.
    """
    known: dict[str, list[str]] = defaultdict(list)
    for mutant in mutants:
        known[mutant.rule].append(mutant.change)
    for rule, change in reasons:
        if rule not in functions:
            raise BadEnvironment(f"{path}: [{rule}] is no function of the model; take it out")
        if rule in known and change not in known[rule]:
            near = nearest(change, known[rule])
            remedy = f"did you mean {near!r}?" if near else "take the line out"
            raise BadEnvironment(f"{path}: [{rule}] {change!r} is no mutant of the model; {remedy}")


def survivors_of(
    mutants: Sequence[Mutant], judged: Sequence[Judgement], reasons: Reasons
) -> Iterator[tuple[Mutant, Judgement]]:
    """Yield the mutants that no claim notices and no reason excuses."""
    for mutant, found in zip(mutants, judged, strict=True):
        if found.fate in OPEN and (mutant.rule, mutant.change) not in reasons:
            yield mutant, found
