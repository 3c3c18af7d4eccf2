"""The table [gate] of a gate file: profiles of its entries, and `strict`, so that none can shrink.

    [gate]
    strict = true
    profiles = ["pull-request", "nightly"]

A strict entry names its bounds, every claim that it checks, and its counts. So a lowered bound, a
claim that is gone and a state that is no longer reached are each a difference that fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from waterline.checker.ci.document import Table
from waterline.checker.ci.expectation import Expected
from waterline.checker.problem.problem import Problem
from waterline.checker.search.result import Budgets, Verdict

GATE = "gate"
_SIZES = ("replicas", "records", "epochs")
_NAMED_SIZES = ("environment", "scenario")


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Settings of a file."""

    strict: bool = False
    profiles: tuple[str, ...] = ()


def gate_settings(table: Table | None) -> GateSettings:
    """Read the table [gate]. Raises `BadGate`."""
    if table is None:
        return GateSettings()
    strict = table.take("strict", "true or false")
    profiles = table.texts("profiles")
    accepted = table.table("accepted")
    for loss in list(accepted.left) if accepted is not None else ():
        assert accepted is not None
        if not accepted.take(loss, "text").strip():
            raise accepted.refuse(f"{loss!r} has no reason", loss)
    table.require_empty()
    return GateSettings(bool(strict), profiles)


def require_whole(
    table: Table,
    problem: Problem,
    budgets: Budgets,
    *,
    keys: Collection[str],
    verdicts: Mapping[str, Expected],
    counts: Collection[str],
) -> None:
    """See that a strict entry with these keys names all that it covers. Raises `BadGate`."""
    for lacking in _lacks(problem, budgets, keys=keys, verdicts=verdicts, counts=counts):
        raise table.refuse(f"[gate] strict: {lacking}")


def _lacks(
    problem: Problem,
    budgets: Budgets,
    *,
    keys: Collection[str],
    verdicts: Mapping[str, Expected],
    counts: Collection[str],
) -> Iterator[str]:
    if "invariant" in keys:
        yield "invariant leaves claims out; remove it, and name every claim in verdicts"
    if unnamed := [name for name in problem.asked_names if name not in verdicts]:
        yield f"verdicts names every claim that is checked; add {', '.join(unnamed)}"
    if bounds := _bounds_not_named(problem, keys):
        yield f"an entry names its bounds; add {', '.join(bounds)}"
    if budgets.stop_at_first or budgets.max_depth is not None:
        for claim, expected in verdicts.items():
            if expected.verdict == Verdict.VIOLATED.value and expected.depth is None:
                yield f"add the depth of {claim}: the search ends early, and counts say nothing"
    elif "distinct" not in counts:
        yield "add counts = { distinct = 0 }; gate --update writes the number"


def _bounds_not_named(problem: Problem, keys: Collection[str]) -> list[str]:
    # Few gates are strict.
    from waterline.checker.user_models.family import OwnFamily  # noqa: PLC0415

    if isinstance(problem.family, OwnFamily):
        wanted: Collection[str] = problem.family.own.bounds(problem.model.version)
    elif "config" in keys:
        wanted = _SIZES[:1]
    else:
        wanted = () if any(name in keys for name in _NAMED_SIZES) else _SIZES
    return [name for name in wanted if name not in keys]
