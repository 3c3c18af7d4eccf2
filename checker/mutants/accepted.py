"""Mutants that nothing need notice, each with the reason: a TOML file beside the model.

    [expire]
    "drop when(s.holder is not None)" = "a free lease does not expire"

A table for each rule, a line for each change, in the words of the report.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from waterline.checker.mutants.judging import OPEN, Judgement
from waterline.checker.mutants.mutants import Mutant
from waterline.counterexamples.named_file import BadFile, read_named
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.nearest import nearest

Reasons: TypeAlias = Mapping[tuple[str, str], str]
"""Reasons by rule and change."""
FILE_BYTES_MAX = 1 << 20


def read_accepted(path: Path) -> Reasons:
    """Read a file. Raises `BadEnvironment`."""
    try:
        read = tomllib.loads(read_named(path, bytes_max=FILE_BYTES_MAX).decode("utf-8-sig"))
    except BadFile as problem:
        raise BadEnvironment(str(problem)) from None
    except UnicodeDecodeError:
        raise BadEnvironment(f"{path} is no TOML: it is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as problem:
        raise BadEnvironment(f"{path} is no TOML: {problem}") from None
    found: dict[tuple[str, str], str] = {}
    for rule, changes in read.items():
        if not isinstance(changes, dict):
            raise BadEnvironment(
                f"{path}: {rule} is in no table; write a table for each rule: [{rule}]"
            )
        for change, reason in changes.items():
            if not isinstance(reason, str) or not reason.strip():
                raise BadEnvironment(f"{path}: [{rule}] {change!r} has no reason; write one")
            found[rule, change] = reason
    return found


def require_known(
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
