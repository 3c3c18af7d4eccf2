"""The table [gate] of a gate file: profiles of its entries, and `strict`, so that none can shrink.

    [gate]
    strict = true
    profiles = ["pull-request", "nightly"]

A strict entry names its bounds, every claim that it checks, and its counts. So a lowered bound, a
claim that is gone and a state that is no longer reached are each a difference that fails.

Of two states of a file `losses` are the entries, claims and bounds that are gone. Both are compared
as they are written: the models of the earlier one need not exist any more. A verdict may become
another: a person changes it. A loss in `accepted`, with a reason, is allowed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.checker.ci.document import Document, Table
from waterline.checker.ci.expectation import Expected
from waterline.checker.ci.keys import OF_ENGINES
from waterline.checker.problem.problem import Problem
from waterline.checker.search.result import Budgets, Verdict
from waterline.counterexamples import show

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


def lacks(
    problem: Problem,
    budgets: Budgets,
    *,
    keys: Collection[str],
    verdicts: Mapping[str, Expected],
    counts: Collection[str],
) -> Iterator[str]:
    """Yield why a strict entry with these keys does not name all that it covers."""
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
        bounds = problem.family.own.bounds(problem.model.version)
        # Without bounds, those of a sort that is abstracted are none.
        wanted: Collection[str] = [name for name in bounds if name in problem.model.options]
    elif "config" in keys:
        wanted = _SIZES[:1]
    else:
        wanted = () if any(name in keys for name in _NAMED_SIZES) else _SIZES
    return [name for name in wanted if name not in keys]


_NO_SCOPE = {*OF_ENGINES, "name", "verdicts", "counts", "never", "profiles"} - {"max-depth"}
"""Keys that do not say how much is covered, or are compared by themselves."""


def losses(before: Sequence[Document], now: Sequence[Document]) -> Iterator[str]:
    """Yield each loss as a line that names entry and part, but for those that are accepted."""
    accepted = {line for each in now for line in each.content.get(GATE, {}).get("accepted", ())}
    yield from (line for line in _losses(before, now) if line not in accepted)


def _losses(before: Sequence[Document], now: Sequence[Document]) -> Iterator[str]:
    if any(_is_strict(each) for each in before) and not all(_is_strict(each) for each in now):
        yield "strict is gone from [gate]"
    entries = _entries(now)
    for name, old in _entries(before).items():
        if name in entries:
            yield from (f"{name}: {loss}" for loss in _of_entry(old, entries[name]))
        else:
            yield f"{name}: the entry is gone"


def _is_strict(document: Document) -> bool:
    return document.content.get(GATE, {}).get("strict") is True


def _entries(documents: Sequence[Document]) -> dict[str, Mapping[str, Any]]:
    return {
        str(entry.get("name")): {**document.content.get("defaults", {}), **entry}
        for document in documents
        for entry in document.content.get("expect", ())
        if isinstance(entry, dict)
    }


def _of_entry(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for part in ("verdicts", "counts"):
        for name in _part(old, part):
            if name not in _part(new, part):
                yield f"{name} is gone from {part}"
    for name in _part(old, "verdicts"):
        was, now = old["verdicts"][name], _part(new, "verdicts").get(name)
        if isinstance(was, dict) and "depth" in was and isinstance(now, str):
            yield f"the depth of {name} is gone"
    for name in _list(new, "never"):
        if name not in _list(old, "never"):
            yield f"{name} need not happen any more"
    if missing := _fewer_profiles(_list(old, "profiles"), _list(new, "profiles")):
        yield missing
    for key, was in old.items():
        if key not in _NO_SCOPE and (described := _shrunk(key, was, new.get(key))):
            yield described
    if "max-depth" in new and "max-depth" not in old:
        yield "max-depth ends the search"


def _part(entry: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = entry.get(name, {})
    return found if isinstance(found, dict) else {}


def _list(entry: Mapping[str, Any], name: str) -> list[Any]:
    found = entry.get(name, [])
    return found if isinstance(found, list) else [found]


def _fewer_profiles(old: list[Any], new: list[Any]) -> str:
    """An entry without profiles runs in all of them."""
    if not new or (old and set(old) <= set(new)):
        return ""
    return f"it runs in {', '.join(map(str, new))} alone"


def _shrunk(key: str, was: Any, now: Any) -> str:
    if isinstance(was, list) and isinstance(now, list):
        gone = [str(each) for each in was if each not in now]
        return f"{key} has no {', '.join(gone)} any more" if gone else ""
    numbers = type(was) is int and type(now) is int
    if was == now or (numbers and now > was):
        return ""
    if now is None:
        return f"{key} is gone"
    return f"{key} is {show(now)}, and was {show(was)}"
