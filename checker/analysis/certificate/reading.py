"""Reading of a certificate's header, which is not trusted: by a schema, within a limit.

A hand may have written it. What the program would not write is refused in one line; what it could
have written is judged, and never executed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from waterline.checker.analysis.certificate.header import (
    FORMAT,
    HEADER,
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


class _Document(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    problem: _Problem
    claims: dict[str, _Claim]
    states: Annotated[int, msgspec.Meta(ge=1, lt=1 << 48)]
    layout: _Layout
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


def read_header(folder: Path) -> Header:
    """The header of the certificate in a folder. Raises `BadCertificate`."""
    path = folder / HEADER
    if not path.exists():
        raise BadCertificate(f"{folder} holds no certificate: there is no {HEADER}")
    try:
        content = read_named(path, bytes_max=BYTES_MAX)
    except BadFile as problem:
        raise BadCertificate(str(problem)) from None
    try:
        document = _decode(content, path)
        spec = ProblemSpec.from_json(msgspec.to_builtins(document.problem))
    except (msgspec.DecodeError, RecursionError, ValueError) as problem:
        raise BadCertificate(f"{path} is no header of a certificate: {problem}") from None
    if spec.claims != frozenset(document.claims):
        raise BadCertificate(f"{path} contradicts itself: its claims are not those of its problem")
    return Header(
        spec=spec,
        claims={name: Stated(each.verdict, each.depth) for name, each in document.claims.items()},
        states=document.states,
        layout=msgspec.to_builtins(document.layout),
        sha256=document.sha256,
    )


class _Stated(msgspec.Struct):
    format: str


def _decode(content: bytes, path: Path) -> _Document:
    """The values; the format first, for another one has other fields."""
    stated = msgspec.json.decode(content, type=_Stated)
    if stated.format != FORMAT:
        raise BadCertificate(
            f"{path} has format {stated.format[:60]!r}; this version reads {FORMAT!r}: "
            "use the version that wrote it, or make the certificate anew"
        )
    return msgspec.json.decode(content, type=_Document)
