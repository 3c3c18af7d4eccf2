"""Certificate that was read: its header, the problem built anew from it, and its states.

The problem is made by the rules that there are now. Those that were in force when it was written
do not matter, as long as states are packed alike.

The file of states is Parquet with one column, read a row group at a time. Keys that do not ascend
are refused, so that each state is there once and counting rows is counting states.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from waterline.checker.analysis.certificate.header import (
    STATES,
    BadCertificate,
    Header,
    describe_layout,
)
from waterline.checker.analysis.certificate.reading import read_header
from waterline.checker.analysis.certificate.renaming import BYTES
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.family import FindFamily
from waterline.checker.problem.problem import Problem
from waterline.checker.search.result import Verdict
from waterline.counterexamples.named_file import BadFile, require_regular
from waterline.model.core.errors import BadEnvironment

COLUMN = "state"
PIECE_STATES = 1 << 11
"""States of a row group, which is what a process or a task judges at a time: a second or two."""


def schema_of(width: int) -> pa.Schema:
    """The one column, of keys that have `width` bytes."""
    return pa.schema([pa.field(COLUMN, pa.binary(width), nullable=False)])


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class StateFile:
    """The states in a file; keys have `width` bytes."""

    path: Path
    width: int

    def require(self, header: Header) -> None:
        """See that it is the file that the header was written for. Raises `BadCertificate`."""
        try:
            require_regular(self.path)
            digest = digest_of(self.path)
        except BadFile as problem:
            raise BadCertificate(str(problem)) from None
        except OSError as problem:
            raise BadCertificate(f"{self.path} cannot be read: {problem.strerror}") from None
        if digest != header.sha256:
            raise BadCertificate(
                f"{self.path} is damaged, or is not the file that the header is of: its SHA-256 "
                "differs; restore it, or make the certificate anew"
            )
        rows = self.rows
        if rows != header.states:
            raise BadCertificate(
                f"{self.path} has {rows:,} states, and the header says {header.states:,}"
            )

    @property
    def rows(self) -> int:
        """How many states the file says that it has."""
        return int(self._open().metadata.num_rows)

    def all_pieces(self) -> Iterator[bytes]:
        """Every piece in order, the next one beginning above the last. Raises `BadCertificate`."""
        file, last = self._open(), b""
        for number in range(file.metadata.num_row_groups):
            keys = _keys_in(file, number, self)
            if keys:
                self.require_ascending(last, keys[: self.width])
                last = keys[-self.width :]
            yield keys

    def require_ascending(self, key: bytes, following: bytes) -> None:
        """Raises `BadCertificate` where a key is not above the one before it."""
        if not key < following:
            raise BadCertificate(f"{self.path} is damaged: its states are not in ascending order")

    def _open(self) -> parquet.ParquetFile:
        if not self.path.is_file():
            raise BadCertificate(f"there is no {STATES} beside the header of {self.path.parent}")
        try:
            file = parquet.ParquetFile(self.path)
            if file.schema_arrow.equals(schema_of(self.width)):
                return file
        except (pa.ArrowException, OSError) as problem:
            raise self._damage(problem) from None
        raise BadCertificate(
            f"{self.path} has other columns than the one of a certificate's states"
        )

    def _damage(self, problem: Exception) -> BadCertificate:
        return BadCertificate(f"{self.path} is damaged: {str(problem).splitlines()[0]}")


def _keys_in(file: parquet.ParquetFile, number: int, of: StateFile) -> bytes:
    try:
        array = file.read_row_group(number).column(0).combine_chunks()
    except (pa.ArrowException, OSError) as problem:
        raise of._damage(problem) from None
    if not len(array):
        return b""
    data = array.buffers()[1]
    keys: bytes = data.slice(array.offset * of.width, len(array) * of.width).to_pybytes()
    last = keys[: of.width]
    for start in range(of.width, len(keys), of.width):
        key = keys[start : start + of.width]
        of.require_ascending(last, key)
        last = key
    return keys


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A certificate: the claims named in `certified` are to hold in the set of `states`.

    They include the conditions that make a normal form exact, whatever the header names.
    `uncertified` are claims of the header that hold and are about whole behaviours: a set of states
    does not show them.
    """

    folder: Path
    header: Header
    problem: Problem
    states: StateFile
    certified: tuple[str, ...]
    uncertified: tuple[str, ...]


def open_certificate(folder: Path, find: FindFamily) -> Certificate:
    """Read the header, build its problem, and see that its file is the one it is of.

    Raises `BadCertificate`, and `BadEnvironment` where `find` has no such family.
    """
    header = read_header(folder)
    try:
        problem = header.spec.build(find)
    except BadEnvironment as problem_found:
        raise BadCertificate(f"{folder}: {problem_found}") from None
    layout = problem.model.layout
    _require_packed_alike(header, describe_layout(layout), folder)
    judged = {claim.name for claim in problem.judged}
    holding = [n for n, claim in header.claims.items() if claim.verdict == Verdict.HOLDS.value]
    named = tuple(name for name in holding if name in judged)
    if not named:
        raise BadCertificate(f"{folder} says of no claim about states or steps that it holds")
    problem = problem.asking_too(named)
    for name in named:
        if name not in problem.checked:
            raise BadCertificate(
                f"{folder} says that {name} holds; {problem.model.version} has nothing that it is "
                "about"
            )
    _require_exact(problem, folder)
    states = StateFile(folder / STATES, layout.words * BYTES)
    states.require(header)
    return Certificate(
        folder=folder,
        header=header,
        problem=problem,
        states=states,
        certified=tuple(dict.fromkeys((*named, *_side_conditions(problem)))),
        uncertified=tuple(name for name in holding if name not in judged),
    )


def _side_conditions(problem: Problem) -> Iterator[str]:
    """The claims without which an abstraction shows nothing."""
    for claim in problem.invariants:
        if claim.about_abstraction and claim.applies(problem.model.settings):
            yield claim.name


def _require_exact(problem: Problem, folder: Path) -> None:
    """Raises `BadCertificate` where the normal form merges states that the rules distinguish."""
    if problem.model.concretise is None:
        return
    # Reads the rules, for which a bounded certificate needs nothing of the compiler.
    from waterline.checker.compiler.source import NotCompilable  # noqa: PLC0415
    from waterline.checker.sorts.check import require_well_sorted  # noqa: PLC0415

    try:
        require_well_sorted(problem, anew=True)
    except (Refused, NotCompilable) as found:
        raise BadCertificate(f"{folder} shows nothing without bounds: {found}") from None


def _require_packed_alike(header: Header, now: dict[str, object], folder: Path) -> None:
    """Raises `BadCertificate`, with the first field that differs."""
    if header.layout == now:
        return
    theirs = {field["name"]: field for field in header.layout["fields"]}
    ours = {field["name"]: field for field in now["fields"]}  # type: ignore[attr-defined]
    differing = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    field = f", field {differing[0]} for one" if differing else ""
    raise BadCertificate(
        f"{folder} packs states otherwise than this problem does now{field}: its bounds were "
        "altered, or the model has other fields since; make the certificate anew"
    )
