"""Processes that do one piece of work after the other, with answers in the order of the pieces.

They end with the block that started them, and also when the process that started them is killed:
then there is nobody at the other end of their pipes. The interrupt of a terminal is left to the
process that started them.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from checker.search.engines.answers import EngineFailed

_END_SECONDS = 5.0
_CONTEXT = multiprocessing.get_context("spawn")
_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection


def in_order(
    work: Callable[[_Item], _Answer], items: Sequence[_Item], processes: int
) -> Iterator[_Answer]:
    """What `work` makes of each item, in order; one process is this one.

    Raises what `work` raises, and `EngineFailed` where a process was ended.
    """
    wanted = min(processes, len(items))
    if wanted <= 1:
        yield from map(work, items)
        return
    with _started(work, wanted) as workers:
        answers: dict[int, Any] = {}
        idle = [worker.pipe for worker in workers]
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
def _started(work: Callable[[Any], Any], number: int) -> Iterator[list[_Worker]]:
    workers: list[_Worker] = []
    try:
        for _ in range(number):
            worker = _begun()
            workers.append(worker)
            worker.pipe.send(work)
        yield workers
    finally:
        for worker in workers:
            worker.pipe.close()
            worker.process.terminate()
        for worker in workers:
            worker.process.join(_END_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _begun() -> _Worker:
    ours, theirs = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_serve, args=(theirs,), daemon=True)
    # It inherits what is blocked: a Ctrl-C while it is still importing is ours, not its own.
    # Python's tracker of resources, begun with the first process, would unblock it again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return _Worker(process, ours)


def _serve(pipe: Connection) -> None:
    """Do what is asked until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        work = pipe.recv()
        while True:
            item = pipe.recv()
            pipe.send(_attempted(work, item))


def _attempted(work: Callable[[Any], Any], item: Any) -> tuple[Exception | None, Any]:
    """The error that was raised, or the answer."""
    try:
        return None, work(item)
    except Exception as error:
        return error, None
