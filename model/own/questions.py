"""`when` and `within`: what an action asks of a state before it changes it.

The checker reads them as a guard and as a bound. In plain Python they raise where the answer is no,
so that an action can be called like any function.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
import types
from collections.abc import Container, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class NotEnabled(Exception):
    """A `when` of an action is False: the action cannot happen in this state."""


class BeyondBound(Exception):
    """A `within` of an action is False: the step goes beyond a bound, and a check leaves it out.

    `bound` is the name of the bound; nothing where the source of the action is not known.
    """

    def __init__(self, text: str, bound: str = "") -> None:
        super().__init__(text)
        self.bound = bound


_is_ignored = ContextVar("_is_ignored", default=False)


@contextmanager
def bounds_ignored() -> Iterator[None]:
    """Let every `within` pass in this block."""
    token = _is_ignored.set(True)
    try:
        yield
    finally:
        _is_ignored.reset(token)


def when(condition: object) -> None:
    """Enable an action only if the condition is true. Precedes all changes of the state.

    Raises `NotEnabled` otherwise, in plain Python; the checker reads it as a guard.
    """
    if not _is_so("when", condition):
        frame = _caller()
        raise NotEnabled(f"{_place(frame)}{_text(frame) or 'when(...)'} is False")


def within(condition: object) -> None:
    """Cut an action's step if the condition is false: it goes beyond the bound in the condition.

    As `within(s.term[node] < s.terms)`. A check counts such steps as cut, and does not take them.
    Raises `BeyondBound` then, in plain Python.
    """
    if not _is_so("within", condition) and not _is_ignored.get():
        frame = _caller()
        text = _text(frame)
        bound = _bound_in(text, _bounds_of(frame))
        which = f"the bound {bound}" if bound else "a bound"
        raise BeyondBound(f"{_place(frame)}{text or 'within(...)'} is False: beyond {which}", bound)


def _is_so(word: str, condition: object) -> bool:
    # A word or None would be true or false by accident; the checker refuses them.
    if condition is None or isinstance(condition, str):
        raise TypeError(f"{word}({condition!r}): a condition is True or False; compare it")
    return bool(condition)


def _caller() -> types.FrameType | None:
    frame = inspect.currentframe()
    # This function, then `when`, then who called it.
    return frame.f_back.f_back if frame is not None and frame.f_back is not None else None


def _place(frame: types.FrameType | None) -> str:
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}: "


def _text(frame: types.FrameType | None) -> str:
    """The call as it is written; nothing where its file is not there."""
    if frame is None:
        return ""
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    first, last, start, end = positions
    if first is None or last is None or start is None or end is None:
        return ""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[first - 1 : last]
    if len(lines) != last - first + 1:
        return ""
    # Columns count bytes.
    lines[-1] = lines[-1].encode()[:end].decode(errors="replace")
    lines[0] = lines[0].encode()[start:].decode(errors="replace")
    return " ".join("".join(lines).split())


def _bounds_of(frame: types.FrameType | None) -> Container[str]:
    """The bounds of the state that the action is given first."""
    if frame is None or not frame.f_code.co_argcount:
        return ()
    state = frame.f_locals.get(frame.f_code.co_varnames[0])
    bounds: Container[str] = getattr(state, "_bounds", ())
    return bounds


def _bound_in(text: str, bounds: Container[str]) -> str:
    """The bound that the checker takes the condition to be about: see `Rules.action`."""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except SyntaxError:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in bounds:
            return node.attr
    return ""
