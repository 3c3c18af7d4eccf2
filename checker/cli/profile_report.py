"""Report of `check --profile`: which fields and actions make the state space large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.checking.bound_sensitivity import Lowered
from waterline.checker.problem.wording import describe_symmetry, quantity
from waterline.checker.search.profile import STANDARD_ERROR, Profile
from waterline.checker.search.result import Result
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import WARNING

_FACTOR_SHOWN = 1.005
"""A field that makes less of a difference is not distinguished from the error of the estimate."""


def profile_document(profile: Profile, lowered: Sequence[Lowered]) -> dict[str, Any]:
    """Return the profile as plain values; docs/formats.md describes them."""
    return {
        "arrivals": dict(profile.arrivals),
        "fields": {
            each.name: {"values": each.values, "exact": each.is_exact, "without": each.without}
            for each in profile.fields
        },
        "faults": {name: list(used) for name, used in profile.faults.items()},
        "lowered": {
            each.option: {"states": each.states, "counted": each.counted} for each in lowered
        },
        "seconds": round(profile.seconds, 3),
    }


def render_profile(result: Result, profile: Profile, lowered: Sequence[Lowered]) -> RenderableType:
    """Bounds, actions, fields and faults by what they make of the space; then its levels."""
    names = describe_symmetry(result.problem.symmetry)
    title = Text(f"\nWhat made it {profile.states:,} states{names}", style="bold")
    parts: list[RenderableType] = [title]
    if not result.complete:
        parts.append(Text("so far: the run stopped early", style=WARNING))
    if lowered:
        parts.append(_lowered_table(profile.states, lowered))
    parts += [_arrivals(profile), *_fields(profile)]
    if any(len(used) > 1 for used in profile.faults.values()):
        parts.append(_faults(profile))
    parts.append(_levels(result))
    parts.append(Text(f"{profile.seconds:.2f} s for the profile", style="dim"))
    return Trimmed(Group(*parts))


def _table(*titles: str) -> Table:
    first, *rest = titles
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(first)
    for title in rest:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _lowered_table(states: int, lowered: Sequence[Lowered]) -> RenderableType:
    table = _table("Lower first", "States left", "Fewer by", "How it is known")
    for each in lowered:
        if each.states is None:
            table.add_row(each.option, "", "", "not explored: too large, or not whole")
            continue
        how = "counted" if each.counted else "explored"
        table.add_row(each.option, f"{each.states:,}", _factor(states, each.states), how)
    return table


def _arrivals(profile: Profile) -> RenderableType:
    table = _table("First action that leads there", "States", "Share")
    arrived = sorted(profile.arrivals.items(), key=lambda each: (-each[1], each[0]))
    for name, count in arrived:
        if count:
            table.add_row(name, f"{count:,}", _share(count, profile.states))
    return table


def _fields(profile: Profile) -> list[RenderableType]:
    table = _table("Field", "Values", "States without it", "Fewer by")
    small, alone = 0, 0
    for each in profile.fields:
        if each.values == 1:
            alone += 1
        elif profile.states < _FACTOR_SHOWN * each.without:
            small += 1
        else:
            values = f"{each.values:,}" if each.is_exact else f"about {each.values:,}"
            without = f"about {each.without:,}"
            table.add_row(each.name, values, without, _factor(profile.states, each.without))
    rest = Text(
        f"Not shown: {quantity(small, 'field')} that nearly or wholly follow from others, "
        f"{quantity(alone, 'field')} with one value. "
        f"States without a field are estimated (standard error {STANDARD_ERROR:.1%}).",
        style="dim",
    )
    return [table, rest]


def _faults(profile: Profile) -> RenderableType:
    most = max(len(used) for used in profile.faults.values())
    table = _table("States by faults used", *(str(times) for times in range(most)))
    for name, used in profile.faults.items():
        if len(used) > 1:
            table.add_row(name, *(f"{n:,} ({_share(n, profile.states)})" for n in used))
    return table


def _levels(result: Result) -> RenderableType:
    table = _table("Level", "States", "Growth", "Share")
    before = 0
    for level in result.levels:
        grown = f"x{level.states / before:.2f}" if before else ""
        share = _share(level.states, result.distinct)
        table.add_row(str(level.depth), f"{level.states:,}", grown, share)
        before = level.states
    return table


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}"


def _factor(whole: int, part: int) -> str:
    return f"x{whole / part:.2f}" if part else ""
