"""Safe JSON reader with limits.

Duplicate names, numbers of absurd length and invalid JSON are refused; so is nesting that Python
cannot follow. For any text, reading it gives plain values or raises `BadTrace` with one line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn

from waterline.counterexamples.trace import BadTrace, show

DEPTH_MAX = 32
"""Most brackets within each other: a trace has 3, one in ITF of a state of tables has 9."""

_DIGITS_MAX = 20


def read_json(text: str) -> Any:
    """The values that `text` holds. Raises `BadTrace`."""
    try:
        found = json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise BadTrace(_too_deep()) from None
    except ValueError as problem:
        raise BadTrace(f"not a trace: not JSON ({problem})") from None
    _require_flat(found)
    return found


def members(
    where: str, found: object, keys: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The members of an object that has exactly `keys`, and perhaps some that are `optional`.

    `where` is its path. Raises `BadTrace`.
    """
    if not isinstance(found, dict):
        raise BadTrace(f"{where} is {show(found)}; it must be an object with {_list_keys(keys)}")
    missing = [key for key in keys if key not in found]
    if missing:
        raise BadTrace(f"{where} lacks {_list_keys(missing)}; it must have {_list_keys(keys)}")
    known = (*keys, *optional)
    unknown = [key for key in found if key not in known]
    if unknown:
        raise BadTrace(
            f"{where} has {show(unknown)}, which is unknown; it may have {_list_keys(known)}"
        )
    return found


def _require_flat(found: object) -> None:
    """See that nothing is nested deeper than `DEPTH_MAX`, level by level and without recursion."""
    level = [found]
    for _ in range(DEPTH_MAX):
        inner: list[object] = []
        for value in level:
            if isinstance(value, dict):
                inner += [v for v in value.values() if isinstance(v, dict | list)]
            elif isinstance(value, list):
                inner += [v for v in value if isinstance(v, dict | list)]
        if not inner:
            return
        level = inner
    raise BadTrace(_too_deep())


def _too_deep() -> str:
    return f"not a trace: the JSON is nested too deeply; a trace has at most {DEPTH_MAX} levels"


def _list_keys(keys: Iterable[str]) -> str:
    return ", ".join(keys)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a name twice in the object {show(found)}")
    return found


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
