"""Processes that do one piece of work after the other, with answers in the order of the pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from waterline.checker.search.engines.answers import EngineFailed
from waterline.checker.search.engines.child_processes import Child, end, spawn

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


def in_order(
    work: Callable[[_Item], _Answer], items: Sequence[_Item], processes: int
) -> Iterator[_Answer]:
    """Yield `work(item)` for each item, in order; with one process, in this one.

    Raises what `work` raises, and `EngineFailed` if a process was killed.
    """
    wanted = min(processes, len(items))
    if wanted <= 1:
        yield from map(work, items)
        return
    with _start_children(work, wanted) as children:
        answers: dict[int, Any] = {}
        idle = [child.pipe for child in children]
        busy: dict[Connection, int] = {}
        left = iter(range(len(items)))
        for number in range(len(items)):
            while number not in answers:
                for pipe, given in zip(idle, left, strict=False):
                    pipe.send(items[given])
                    busy[pipe] = given
                ready = wait(list(busy))
                idle = [pipe for pipe in busy if pipe in ready]
                answers |= {busy.pop(pipe): _answer(pipe) for pipe in idle}
            error, answer = answers.pop(number)
            if error is not None:
                raise error
            yield answer


def _answer(pipe: Connection) -> Any:
    try:
        return pipe.recv()
    except (EOFError, OSError):
        raise EngineFailed("a process that judged states was ended; out of memory?") from None


@contextmanager
def _start_children(work: Callable[[Any], Any], number: int) -> Iterator[list[Child]]:
    children: list[Child] = []
    try:
        for _ in range(number):
            children.append(spawn(_serve))
            children[-1].pipe.send(work)
        yield children
    finally:
        end(children)


def _serve(pipe: Connection) -> None:
    work = pipe.recv()
    while True:
        item = pipe.recv()
        pipe.send(_attempt(work, item))


def _attempt(work: Callable[[Any], Any], item: Any) -> tuple[Exception | None, Any]:
    """The error that was raised, or the answer."""
    try:
        return None, work(item)
    except Exception as error:
        return error, None
