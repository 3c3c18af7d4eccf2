"""An expectation: a problem with its expected verdicts, counts and depths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from waterline.checker.ci.positions import Place, Spot
from waterline.checker.mutants.edits import KINDS
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Budgets, Verdict

WITHIN_CONTRACT = "within contract"
"""Violated, and Kafka does not promise it with these settings (`Invariant.contract`)."""
VERDICTS = (
    Verdict.HOLDS.value,
    Verdict.VIOLATED.value,
    WITHIN_CONTRACT,
    Verdict.NOT_APPLICABLE.value,
)
"""Verdicts to expect of a claim. INCOMPLETE is not among them."""
COUNTS = ("distinct", "generated", "depth")
"""Counts of a run that may be expected exactly."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected result of one claim: one of `VERDICTS`, and the least depth if the file has it."""

    verdict: str
    depth: int | None = None
    place: Place | None = None


MUTANTS = (*KINDS, "all")
"""Kinds of mutants that an entry may demand to be noticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One run and its expected result.

    `verdicts` are by claim, `counts` by the names in `COUNTS`. Expectations in `never` must not
    happen; all others must, unless `is_partial`: then the circumstances are one fault of many, and
    `checker.ci.judging` checks instead whether the fault occurred at all. `spots` are the numbers
    in the file that `--update` may write: `("depth", claim)` and `("counts", name)`. `command`
    shows the same run. The question depends on `files` as well. With `ties` the code that the model
    names must be as it was reviewed. `profiles` run it, all if there are none. If `strict`, every
    action must be taken, but for those in `never`. With `proved` the claims that hold must be
    proved. Every mutant of the kind `mutants` must be noticed, "" for none.
    """

    name: str
    problem: Problem
    choice: EngineChoice
    budgets: Budgets
    verdicts: Mapping[str, Expected]
    place: Place
    counts: Mapping[str, int] = field(default_factory=dict)
    never: tuple[str, ...] = ()
    is_partial: bool = False
    spots: Mapping[tuple[str, str], Spot] = field(default_factory=dict)
    command: str = ""
    files: tuple[Path, ...] = ()
    ties: bool = False
    profiles: tuple[str, ...] = ()
    strict: bool = False
    proved: bool = False
    mutants: str = ""


def plainly(verdicts: Mapping[str, str]) -> dict[str, Expected]:
    """Return expected verdicts without depths."""
    return {name: Expected(verdict) for name, verdict in verdicts.items()}
