"""Records of look-ups: the values that rules read by name, and whether they still read the same.

A record begins at some functions, its roots, and lists each look-up as the number of its function,
the path, and the content found. Functions found by look-ups are numbered after the roots, in that
order. Such a record is a verifying trace: a result that depends only on the trees of rules and on
the values of their names is the same as long as every path leads to the same content.
"""

from __future__ import annotations

import functools
import types
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.checker.compiler.content import NoContent, content_of
from waterline.checker.compiler.resolution import Path, Undefined, follow
from waterline.checker.compiler.source import NotCompilable

Found = Mapping[tuple[types.FunctionType, Path], Any]
"""The value found by each path from a function, in the order of the look-ups."""
Record = list[list[Any]]
"""Look-ups as JSON has them: number of the function, steps of the path, content."""


def record_of(roots: Sequence[types.FunctionType], found: Found, *, exact: bool) -> Record:
    """The look-ups in these functions and in all that they lead to; others are left out.

    With `exact` a function that is edited without another meaning has another content.
    """
    of_function: dict[types.FunctionType, list[tuple[Path, Any]]] = defaultdict(list)
    for (function, path), thing in found.items():
        of_function[function].append((path, thing))
    record: Record = []
    numbers = {function: number for number, function in enumerate(roots)}
    waiting = list(roots)
    for number, function in enumerate(waiting):  # it grows meanwhile
        for path, thing in of_function[function]:
            record.append([number, path, content_of(thing, exact=exact)])
            if isinstance(thing, types.FunctionType) and thing not in numbers:
                numbers[thing] = len(waiting)
                waiting.append(thing)
    return record


def found_again(roots: Sequence[types.FunctionType], record: Any, *, exact: bool) -> Found | None:
    """Repeat the look-ups of a record; return None if one has another result now.

    Raises `ValueError`, `TypeError` or `IndexError` for an invalid record.
    """
    functions = list(roots)
    numbers = set(functions)
    found: dict[tuple[types.FunctionType, Path], Any] = {}
    for number, steps, content in record:
        function = functions[number]
        path = tuple([(kind, step) for kind, step in steps])
        thing, content_now = _followed_once(function, path, exact)
        if content_now is None or content_now != content:
            return None
        found[function, path] = thing
        if isinstance(thing, types.FunctionType) and thing not in numbers:
            numbers.add(thing)
            functions.append(thing)
    return found


@dataclass(frozen=True, slots=True)
class Bindings:
    """Objects that the names of a program stood for when they were looked up.

    `codes` are the code of each function that look-ups began in or led to. A plain global name is
    in `names`, in the form that is quickest to compare: a search asks again and again.
    """

    codes: tuple[tuple[types.FunctionType, types.CodeType], ...]
    names: tuple[tuple[dict[str, Any], str, Any], ...]
    others: tuple[tuple[types.FunctionType, Path, Any], ...]

    def are_current(self) -> bool:
        """True if no name was rebound: each path leads to the same object, of the same code.

        That is quick, and takes an equal object in another's place for a change.
        """
        try:
            return (
                all(function.__code__ is code for function, code in self.codes)
                and all(names.get(name, _MISSING) is thing for names, name, thing in self.names)
                and all(follow(function, path) is thing for function, path, thing in self.others)
            )
        except (Undefined, NoContent):
            return False


_MISSING = object()


def bindings_of(roots: Sequence[types.FunctionType], found: Found) -> Bindings:
    """Return what look-ups from these functions have found."""
    reached = (thing for thing in found.values() if isinstance(thing, types.FunctionType))
    begun = (function for function, _ in found)
    names, others = [], []
    for (function, path), thing in found.items():
        match path:
            case (("name", str(name)),) if name in function.__globals__:
                names.append((function.__globals__, name, thing))
            case _:
                others.append((function, path, thing))
    functions = dict.fromkeys((*roots, *begun, *reached))
    return Bindings(tuple((f, f.__code__) for f in functions), tuple(names), tuple(others))


@functools.lru_cache(maxsize=1 << 16)
def _followed_once(function: types.FunctionType, path: Path, exact: bool) -> tuple[Any, str | None]:
    """Return the value at a path and its content, as of this process's first look-up."""
    try:
        thing = follow(function, path)
        return thing, content_of(thing, exact=exact)
    except (Undefined, NoContent, NotCompilable):
        return None, None


def forget() -> None:
    """Follow all paths anew from now on, as another process would."""
    _followed_once.cache_clear()
