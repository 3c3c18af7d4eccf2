"""Header of a certificate: the claims that its states are to show, as JSON.

It names the problem by plain values, the claims with their verdicts, how a state is packed, how
many states there are, and the digest of their file. Nothing in it is trusted: the digest guards
against accidents, and all else is judged again. Nothing in it is code.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from waterline.checker.problem.errors import Refused
from waterline.checker.problem.spec import ProblemSpec
from waterline.model.core.layout import Layout

FORMAT = "waterline-certificate/1"
PROOF = "waterline-proof/1"
"""The format of a certificate of a proof (`proof.py`), which has no states."""
HEADER = "certificate.json"
STATES = "states.parquet"


class BadCertificate(Refused):
    """A directory holds no certificate that can be judged; the message names what is wrong."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A certificate's statement on a claim; `depth` is the least of a violation."""

    verdict: str
    depth: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """All of it. `layout` is what `describe_layout` says of the layout."""

    spec: ProblemSpec
    claims: Mapping[str, Stated]
    states: int
    layout: Mapping[str, Any]
    sha256: str


def describe_layout(layout: Layout) -> dict[str, Any]:
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
    """The header as the file has it, with a line for each claim and each field."""
    values = {
        "format": FORMAT,
        "problem": header.spec.to_json(),
        "states": header.states,
        "sha256": header.sha256,
    }
    claims = [f"{json.dumps(n)}: {json.dumps(asdict(c))}" for n, c in header.claims.items()]
    fields = [json.dumps(field) for field in header.layout["fields"]]
    whole = [
        json.dumps(values, indent=2).removesuffix("\n}"),
        f'  "claims": {{\n{_lines(claims, 4)}\n  }}',
        f'  "layout": {{\n    "words": {header.layout["words"]},',
    ]
    head = ",\n".join(whole)
    return f'{head}\n    "fields": [\n{_lines(fields, 6)}\n    ]\n  }}\n}}\n'


def _lines(texts: Iterable[str], indent: int) -> str:
    return ",\n".join(" " * indent + text for text in texts)
