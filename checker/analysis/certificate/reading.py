"""Reading of a certificate's header, which is not trusted: by a schema, within a limit.

A hand may have written it. What the program would not write is refused in one line; what it could
have written is judged, and never executed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec

from waterline.checker.analysis.certificate.header import (
    FORMAT,
    HEADER,
    PROOF,
    BadCertificate,
    Header,
    Stated,
)
from waterline.checker.problem.spec import ProblemSpec
from waterline.counterexamples.named_file import BadFile, read_named

BYTES_MAX = 4 << 20


class _Claim(msgspec.Struct, forbid_unknown_fields=True):
    verdict: Literal["holds", "violated", "incomplete", "not applicable"]
    depth: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)] | None


class _Problem(msgspec.Struct, forbid_unknown_fields=True):
    model: str
    protocol: str
    bounds: dict[str, bool | int | str]
    invariants: list[str]
    symmetry: str


class _Alive(msgspec.Struct, forbid_unknown_fields=True):
    field: str
    values: list[int]


class _Field(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    lo: int
    hi: int
    shape: list[int]
    bits: int
    first_bit: int
    row_bits: int
    column_bits: int
    alive: _Alive | None


class _Layout(msgspec.Struct, forbid_unknown_fields=True):
    words: int
    fields: list[_Field]


D = TypeVar("D", bound="Stating")


class Stating(msgspec.Struct, forbid_unknown_fields=True):
    """The part that every certificate has: its format, and the problem that it is about."""

    format: str
    problem: _Problem


class _Document(Stating, forbid_unknown_fields=True):
    claims: dict[str, _Claim]
    states: Annotated[int, msgspec.Meta(ge=1, lt=1 << 48)]
    layout: _Layout
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


def read_header(folder: Path) -> Header:
    """The header of the certificate in a folder. Raises `BadCertificate`."""
    document, spec = read_stating(folder, FORMAT, _Document)
    if spec.claims != frozenset(document.claims):
        raise BadCertificate(
            f"{folder / HEADER} contradicts itself: its claims are not those of its problem"
        )
    return Header(
        spec=spec,
        claims={name: Stated(each.verdict, each.depth) for name, each in document.claims.items()},
        states=document.states,
        layout=msgspec.to_builtins(document.layout),
        sha256=document.sha256,
    )


def is_of_proof(folder: Path) -> bool:
    """True if a folder has the certificate of a proof, as far as its format says."""
    try:
        return _format_of(read_named(folder / HEADER, bytes_max=BYTES_MAX)) == PROOF
    except (BadFile, msgspec.DecodeError, RecursionError, ValueError):
        return False


def read_stating(folder: Path, format_due: str, kind: type[D]) -> tuple[D, ProblemSpec]:
    """A certificate of one format, with the problem that it is about. Raises `BadCertificate`."""
    path = folder / HEADER
    if not path.exists():
        raise BadCertificate(f"{folder} holds no certificate: there is no {HEADER}")
    try:
        content = read_named(path, bytes_max=BYTES_MAX)
    except BadFile as problem:
        raise BadCertificate(str(problem)) from None
    try:
        # The format first, for another one has other fields.
        stated = _format_of(content)
        if stated != format_due:
            raise BadCertificate(
                f"{path} has format {stated[:60]!r}; this version reads {FORMAT!r} and {PROOF!r}: "
                "use the version that wrote it, or make the certificate anew"
            )
        document = msgspec.json.decode(content, type=kind)
        return document, ProblemSpec.from_json(msgspec.to_builtins(document.problem))
    except (msgspec.DecodeError, RecursionError, ValueError) as problem:
        raise BadCertificate(f"{path} is no header of a certificate: {problem}") from None


class _Stated(msgspec.Struct):
    format: str


def _format_of(content: bytes) -> str:
    return msgspec.json.decode(content, type=_Stated).format
