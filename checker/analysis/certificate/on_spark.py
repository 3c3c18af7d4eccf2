"""Certification on Spark: one job of two stages, like a level of the search.

A task of the first stage reads a row group and judges its states. The keys of these states, and
those of their successors, go to owners, chosen by a checksum of the key. A task of the second stage
has one owner's share of both, and sees whether each successor is among the states. So no process
ever holds the whole set: broadcast it would have to fit every worker's memory, and be sent to each
before the first state is judged. A shuffle costs less than the rules by far, which take most of a
millisecond for a state. Owners are so many that a share fits a worker; nothing needs to be sorted
there, since a share is looked up by its keys.

The tasks open the file of states themselves, so executors must see its folder, and have pyarrow.
"""

from __future__ import annotations

import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from waterline.checker.analysis.certificate.certifying import (
    Certified,
    Question,
    least,
    require_all,
)
from waterline.checker.analysis.certificate.header import BadCertificate
from waterline.checker.analysis.certificate.judging import NOT_IN_SET, OUT_OF_SET, Failure, Judge
from waterline.checker.analysis.certificate.state_file import StateFile
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.shipped_call import itself

if TYPE_CHECKING:
    from waterline.checker.analysis.certificate.certificate import Certificate
    from waterline.checker.search.engines.spark_platform import Classic

OWNER_STATES = 1 << 18
"""About how many states an owner has a share of; as Python keeps them, some 30 MB."""
NUMBER_BYTES = 4
"""Bytes of a renaming's number and of a step's."""
BLOCKS_BYTES = 8 << 20
"""How much a task gathers before it is sent to the owners."""
TASKS_A_CORE = 32
Sent = tuple[int, Any]
"""An owner and what it is sent, or the number beyond all owners and a report."""


@dataclass(frozen=True, slots=True)
class Span:
    """Outcome for a row group: its verdicts, and its first and its last key."""

    number: int
    found: Certified
    first: bytes
    last: bytes


class _Outbox:
    """A task's output for each owner: keys of states; of successors the key, the source, the step.

    Under a symmetry the least of all renamings determines the owner, and stands for all of them. It
    is sent now and then, so that many small row groups make few blocks.
    """

    def __init__(self, judge: Judge, owners: int) -> None:
        self._judge = judge
        self._owners = owners
        self._states: defaultdict[int, bytearray] = defaultdict(bytearray)
        self._arrivals: defaultdict[int, bytearray] = defaultdict(bytearray)
        self.size = 0

    def add_state(self, key: bytes) -> None:
        """A state of the set, or what stands for it."""
        self._states[owner_of(key, self._owners)].extend(key)
        self.size += len(key)

    def add_arrival(self, after: bytes, source: bytes, *numbers: int) -> None:
        """Where a step of a state leads; the numbers of the renaming and of the step."""
        after = min(self._judge.alike(after))
        whence = (number.to_bytes(NUMBER_BYTES, "big") for number in numbers)
        arrival = b"".join((after, source, *whence))
        self._arrivals[owner_of(after, self._owners)].extend(arrival)
        self.size += len(arrival)

    def drain(self) -> Iterator[Sent]:
        """All of it, which is then empty."""
        for owner in {**self._states, **self._arrivals}:
            yield owner, (bytes(self._states[owner]), bytes(self._arrivals[owner]))
        self._states.clear()
        self._arrivals.clear()
        self.size = 0


Found = Span | Failure | str
"""Findings of tasks: of a row group, of an owner; a text if the file is damaged."""


def owner_of(key: bytes, owners: int) -> int:
    """Who looks a key up."""
    return zlib.crc32(key) % owners


@dataclass(frozen=True, slots=True)
class JudgePieces:
    """Task of the first stage: judges row groups, by their numbers."""

    question: Question
    states: StateFile
    owners: int

    def __call__(self, numbers: Iterator[int]) -> Iterator[Sent]:
        """Blocks for owners, and for each row group a report."""
        judge, width = self.question.judge(), self.states.width
        outbox = _Outbox(judge, self.owners)
        for number in numbers:
            try:
                piece = self.states.piece(number)
            except BadCertificate as problem:
                yield self.owners, str(problem)
                return
            found = self._judge_piece(judge, piece, outbox)
            yield self.owners, Span(number, found, piece[:width], piece[-width:])
            if outbox.size >= BLOCKS_BYTES:
                yield from outbox.drain()
        yield from outbox.drain()

    def _judge_piece(self, judge: Judge, piece: bytes, outbox: _Outbox) -> Certified:
        width, found, seen = self.states.width, Certified(), set[bytes]()
        for start in range(0, len(piece), width):
            key = piece[start : start + width]
            judged = judge.judge(key)
            found.states += 1
            found.steps += len(judged.successors)
            found.cut.update(judged.cut)
            found.failure = found.failure or judged.failure
            outbox.add_state(min(judge.alike(key)) if judged.fits else key)
            for renaming, place, after in judged.successors:
                # States ascend: whose successor it is first is the least that it is of.
                if after not in seen:
                    seen.add(after)
                    outbox.add_arrival(after, key, renaming, place)
        return found


@dataclass(frozen=True, slots=True)
class MatchArrivals:
    """Task of the second stage: the least failure of an owner's share; reports are passed on."""

    width: int
    owners: int
    initial: tuple[bytes, ...]

    def __call__(self, owner: int, sent: Iterator[Sent]) -> Iterator[Found]:
        """Yield the successors missing from the states of this owner."""
        if owner == self.owners:
            yield from (report for _, report in sent)
            return
        states, blocks = set[bytes](), []
        for _, (keys, arrivals) in sent:
            states.update(keys[i : i + self.width] for i in range(0, len(keys), self.width))
            blocks.append(arrivals)
        missing = [
            Failure(b"", 0, number, NOT_IN_SET)
            for number, key in enumerate(self.initial)
            if owner_of(key, self.owners) == owner and key not in states
        ]
        failure = least(*missing, *(self._leads_out(block, states) for block in blocks))
        if failure is not None:
            yield failure

    def _leads_out(self, arrivals: bytes, states: set[bytes]) -> Failure | None:
        """The least step of a block that leads to none of the states."""
        width, size = self.width, 2 * self.width + 2 * NUMBER_BYTES
        missing = (
            Failure(
                arrivals[i + width : i + 2 * width],
                int.from_bytes(arrivals[i + size - 2 * NUMBER_BYTES : i + size - NUMBER_BYTES]),
                int.from_bytes(arrivals[i + size - NUMBER_BYTES : i + size]),
                OUT_OF_SET,
            )
            for i in range(0, len(arrivals), size)
            if arrivals[i : i + width] not in states
        )
        return min(missing, default=None)


def certify_on_spark(
    certificate: Certificate,
    choice: EngineChoice,
    *,
    announce: Callable[[str], None] = lambda message: None,
    watch: Callable[[int], None] = lambda tasks: None,
) -> Certified:
    """Judge all states in tasks on Spark; `watch` receives now and then how many have ended.

    Raises what starting Spark raises, `EngineFailed`, and `BadCertificate` for a damaged file.
    """
    from waterline.checker.search.engines.spark_side import SparkSide  # noqa: PLC0415 - it takes a while

    started = time.monotonic()
    question = Question(certificate.problem, certificate.certified)
    # Executors have another working directory.
    states = replace(certificate.states, path=certificate.states.path.resolve())
    side = SparkSide(choice, announce)

    def look() -> bool:
        watch(side.finished_tasks())
        return False

    try:
        classic = side.classic("certifying needs a shuffle; use --engine local")
        side.start()
        side.wait()
        found: list[Found] = side.run(
            "while certifying", lambda: _judge_states(classic, question, states), until=look
        )
    finally:
        side.close()
    for problem in (each for each in found if isinstance(each, str)):
        raise BadCertificate(problem)
    total = Certified()
    last = b""
    for span in sorted((each for each in found if isinstance(each, Span)), key=lambda s: s.number):
        if span.found.states:
            certificate.states.require_ascending(last, span.first)
            last = span.last
        total.add(span.found)
    total.failure = least(total.failure, *(each for each in found if isinstance(each, Failure)))
    total.seconds = time.monotonic() - started
    require_all(certificate, total)
    return total


def _judge_states(spark: Classic, question: Question, states: StateFile) -> list[Found]:
    pieces = states.pieces
    owners = max(2 * spark.cores, -(-states.rows // OWNER_STATES))
    judge = spark.ship(JudgePieces(question, states, owners))
    asking = question.judge()
    initial = tuple(min(asking.alike(key)) for key in asking.initial())
    match = spark.ship(MatchArrivals(states.width, owners, initial))
    slices = min(pieces, TASKS_A_CORE * spark.cores)
    sent = spark.context.parallelize(range(pieces), slices).mapPartitions(judge)
    found: list[Found] = (
        sent.partitionBy(owners + 1, itself).mapPartitionsWithIndex(match).collect()
    )
    return found
