"""Certificates, and forgeries of them whose digests and counts fit again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from waterline.checker.analysis.certificate.certifying import Certified
from waterline.checker.analysis.certificate.header import HEADER, STATES
from waterline.checker.analysis.certificate.writing import write_certificate
from waterline.checker.checking.run import run
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice

Json = dict[str, Any]


def certificate_of(problem: Problem, folder: Path) -> Path:
    """Explore, and write the certificate of what came out."""
    choice = EngineChoice(name="local", threads=1)
    run(problem, choice, finished=partial(write_certificate, out=folder))
    return folder


def keys_in(folder: Path) -> list[bytes]:
    """The states, in the order in which they are written."""
    found: list[bytes] = parquet.read_table(folder / STATES).column("state").to_pylist()
    return found


def header_in(folder: Path) -> Json:
    found: Json = json.loads((folder / HEADER).read_text())
    return found


def put_header(folder: Path, header: Json) -> None:
    (folder / HEADER).write_text(json.dumps(header))


def put_keys(folder: Path, keys: Sequence[bytes], *, count: int | None = None) -> None:
    """Other states, with a digest that fits; the header says that there are `count`."""
    kind = pa.binary(len(keys[0]))
    table = pa.table({"state": pa.array(keys, kind)}, pa.schema([pa.field("state", kind, False)]))
    parquet.write_table(table, folder / STATES, row_group_size=100, store_schema=False)
    put_digest(folder)
    put_header(folder, header_in(folder) | {"states": len(keys) if count is None else count})


def die(span: tuple[int, int]) -> Certified:
    """What a process does that judges states when memory runs out."""
    os._exit(1)


def put_digest(folder: Path) -> None:
    """Have the header name the file as it is."""
    digest = hashlib.sha256((folder / STATES).read_bytes()).hexdigest()
    put_header(folder, header_in(folder) | {"sha256": digest})
