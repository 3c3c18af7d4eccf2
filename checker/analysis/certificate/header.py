"""Header of a certificate: what its states are said to show, as JSON.

It names the problem by plain values, the claims with their verdicts, how a state is packed, how
many states there are, and the digest of their file. Nothing in it is trusted: the digest guards
against accidents, and all else is judged again. Nothing in it is code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from checker.problem.errors import Refused
from checker.problem.spec import ProblemSpec
from counterexamples.named_file import BadFile, read_named
from model.core.layout import Layout

FORMAT = "waterline-certificate/1"
HEADER = "certificate.json"
STATES = "states.parquet"
BYTES_MAX = 4 << 20


class BadCertificate(Refused):
    """A directory holds no certificate that can be judged; the message names what is wrong."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a certificate says of a claim; `depth` is the least of a violation."""

    verdict: str
    depth: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """All of it. `layout` is what `described` says of the layout."""

    spec: ProblemSpec
    claims: Mapping[str, Stated]
    states: int
    layout: Mapping[str, Any]
    sha256: str


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


def described(layout: Layout) -> dict[str, Any]:
    """A layout as plain values: every field with its range, and its bits in the words."""
    fields = []
    for declared in layout.fields:
        place = layout.places[declared.name]
        alive = None
        if place.alive is not None:
            alive = {"field": place.alive.field, "values": list(place.alive.values)}
        fields.append(
            {
                "name": place.name,
                "lo": place.lo,
                "hi": place.hi,
                "shape": list(place.shape),
                "bits": place.width,
                "first_bit": place.bit,
                "row_bits": place.row,
                "column_bits": place.column,
                "alive": alive,
            }
        )
    return {"words": layout.words, "fields": fields}


def to_text(header: Header) -> str:
    """The header as the file has it."""
    values = {
        "format": FORMAT,
        "problem": header.spec.to_json(),
        "claims": {name: asdict(claim) for name, claim in header.claims.items()},
        "states": header.states,
        "sha256": header.sha256,
        "layout": header.layout,
    }
    return json.dumps(values, indent=2) + "\n"


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
        document = _decoded(content, path)
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


def _decoded(content: bytes, path: Path) -> _Document:
    """The values; the format first, for another one has other fields."""
    stated = msgspec.json.decode(content, type=_Stated)
    if stated.format != FORMAT:
        raise BadCertificate(
            f"{path} has format {stated.format[:60]!r}; this version reads {FORMAT!r}: "
            "use the version that wrote it, or make the certificate anew"
        )
    return msgspec.json.decode(content, type=_Document)
