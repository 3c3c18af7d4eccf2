"""Certification: every piece of the states is judged, each against the whole set.

The set is one file of sorted keys, which all processes map, or all of Spark's tasks: it is looked
up by bisection, and takes no more memory than the keys themselves. Pieces are judged in their
order, so that the failure that is reported is the least. Processes judge nothing beyond it.
"""

from __future__ import annotations

import mmap
import os
import platform
import tempfile
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, overload

from waterline.checker.analysis.certificate.judging import NOT_IN_SET, OUT_OF_SET, Failure, Judge
from waterline.checker.batch.processes import in_order
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice, EngineFailed
from waterline.model.core.errors import BadEnvironment

if TYPE_CHECKING:
    from waterline.checker.analysis.certificate.certificate import Certificate

TASKS_A_CORE = 32
Span = tuple[int, int]
"""The place in the file of keys where a piece begins, and where it ends."""


@dataclass(slots=True)
class Certified:
    """Outcome of a judgement: certified if `failure` is None.

    `steps` are those within the bounds, `cut` those that a bound cuts, by its name.
    """

    states: int = 0
    steps: int = 0
    cut: Counter[str] = field(default_factory=Counter)
    failure: Failure | None = None
    seconds: float = 0.0

    def add(self, other: Certified) -> None:
        """Add the outcome of another piece; the least failure is kept."""
        self.states += other.states
        self.steps += other.steps
        self.cut.update(other.cut)
        self.failure = least(self.failure, other.failure)


@dataclass(frozen=True, slots=True)
class Question:
    """A question about each state, as it is sent to other processes."""

    problem: Problem
    certified: tuple[str, ...]

    def judge(self) -> Judge:
        """Return the judge of states."""
        return Judge(self.problem, self.certified)


class SortedKeys(Sequence[bytes]):
    """Keys of `width` bytes each, ascending, one after the other in `data`."""

    def __init__(self, data: bytes | mmap.mmap, width: int) -> None:
        self._data = data
        self._width = width
        self._count = len(data) // width

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> bytes: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[bytes]: ...
    def __getitem__(self, at: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(self._count))]
        return self._data[at * self._width : (at + 1) * self._width]

    def __contains__(self, key: object) -> bool:
        at = bisect_left(self, key)  # type: ignore[call-overload]  # keys alone are asked for
        return bool(at < self._count and self[at] == key)


JudgePart = Callable[[Span], Certified]
"""A judge of the states of a piece."""


def least(*failures: Failure | None) -> Failure | None:
    """The first of them in their order; None if there is none."""
    return min((failure for failure in failures if failure is not None), default=None)


def missing_initial(judge: Judge, keys: Sequence[bytes]) -> Failure | None:
    """The first initial state that is not in the set."""
    numbers = (n for n, key in enumerate(judge.initial()) if not stands_for(judge, key, keys))
    return next((Failure(b"", 0, number, NOT_IN_SET) for number in numbers), None)


def stands_for(judge: Judge, key: bytes, keys: Sequence[bytes]) -> bool:
    """True if a state is in the set, or one that stands for it."""
    return key in keys or any(each in keys for each in judge.alike(key))


def judge_piece(judge: Judge, piece: bytes, width: int, keys: Sequence[bytes]) -> Certified:
    """Judge every state of a piece, up to the first that fails."""
    found = Certified()
    for start in range(0, len(piece), width):
        key = piece[start : start + width]
        judged = judge.judge(key)
        found.states += 1
        found.steps += len(judged.successors)
        found.cut.update(judged.cut)
        leading_out = (
            Failure(key, renaming, place, OUT_OF_SET)
            for renaming, place, after in judged.successors
            if not stands_for(judge, after, keys)
        )
        found.failure = least(judged.failure, next(leading_out, None))
        if found.failure is not None:
            break
    return found


def certify(
    certificate: Certificate,
    *,
    jobs: int = 0,
    watch: Callable[[Certified], None] = lambda so_far: None,
) -> Certified:
    """Judge all states in so many processes; 0: one a core, 1: this one.

    `watch` receives what has been judged so far. Raises `BadCertificate` for a damaged file, and
    `EngineFailed` where a process was ended.
    """

    def judge_all(judge_part: JudgePart, spans: list[Span]) -> Iterator[Certified]:
        what = "a process that judged states"
        return in_order(judge_part, spans, jobs or os.cpu_count() or 1, what=what)

    return _certify(certificate, Path(tempfile.gettempdir()), judge_all, watch)


def certify_on_spark(
    certificate: Certificate,
    choice: EngineChoice,
    *,
    announce: Callable[[str], None] = lambda message: None,
    watch: Callable[[int], None] = lambda tasks: None,
) -> Certified:
    """Judge all states in tasks on Spark; `watch` receives now and then how many have ended.

    The keys lie in the certificate's folder meanwhile, which executors must see. Raises what
    starting Spark raises, `EngineFailed`, and `BadCertificate` for a damaged file.
    """
    from waterline.checker.search.engines.spark_side import SparkSide  # noqa: PLC0415 - it takes a while

    side = SparkSide(choice, announce)

    def look() -> bool:
        watch(side.finished_tasks())
        return False

    def judge_all(judge_part: JudgePart, spans: list[Span]) -> list[Certified]:
        side.start()
        side.wait()
        slices = min(len(spans), TASKS_A_CORE * side.cores)
        return side.each("while certifying", spans, slices, judge_part, until=look)

    try:
        return _certify(certificate, certificate.states.path.parent.resolve(), judge_all)
    finally:
        side.close()


def _certify(
    certificate: Certificate,
    folder: Path,
    judge_all: Callable[[JudgePart, list[Span]], Iterable[Certified]],
    watch: Callable[[Certified], None] = lambda so_far: None,
) -> Certified:
    """Judge all states, by workers that map the keys from a file in this folder."""
    started = time.monotonic()
    question = Question(certificate.problem, certificate.certified)
    states = certificate.states
    total = Certified()
    with tempfile.TemporaryDirectory(prefix=".waterline-", dir=folder) as temporary:
        file = Path(temporary) / "keys"
        with file.open("wb") as keys_file:
            sizes = [keys_file.write(piece) for piece in states.all_pieces()]
        with _memory_map(file) as data:
            total.failure = missing_initial(question.judge(), SortedKeys(data, states.width))
        if total.failure is None:
            judge_part = partial(_judge_part, question, file, states.width)
            for part in judge_all(judge_part, list(_spans(sizes))):
                total.add(part)
                total.seconds = time.monotonic() - started
                watch(total)
                if total.failure is not None:
                    break
    total.seconds = time.monotonic() - started
    require_all(certificate, total)
    return total


def require_all(certificate: Certificate, total: Certified) -> None:
    """See that no state was left out where nothing failed. Raises `EngineFailed`."""
    if total.failure is None and total.states != certificate.header.states:
        raise EngineFailed(
            f"{total.states:,} of {certificate.header.states:,} states were judged; "
            f"was {certificate.states.path} written to meanwhile?"
        )


def _spans(sizes: Iterable[int]) -> Iterator[Span]:
    """Where each piece begins and ends."""
    start = 0
    for size in sizes:
        yield start, start + size
        start += size


def _judge_part(question: Question, file: Path, width: int, span: Span) -> Certified:
    """Judge the keys between two places of the file; runs in a process or a task of its own."""
    if not file.is_file():
        raise BadEnvironment(
            f"{platform.node()} has no {file}; put the certificate where all machines of the "
            "cluster see it, or use --engine local"
        )
    with _memory_map(file) as data:
        return judge_piece(question.judge(), data[slice(*span)], width, SortedKeys(data, width))


@contextmanager
def _memory_map(file: Path) -> Iterator[mmap.mmap]:
    with (
        file.open("rb") as opened,
        closing(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)) as data,
    ):
        yield data
