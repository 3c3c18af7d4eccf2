"""Digest of this program: whatever finds and keeps an answer, without a model's rules and claims.

It has the sources of all modules that a search or a gate can reach, and the versions of what they
run on. Rules and claims are in the digest of a problem (`checker.compiler.problem_digest`), each
problem having only those that it uses.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGES = Path(__file__).parents[2]
OUR_PACKAGES = ("checker", "counterexamples", "invariants", "model")
"""The packages within `waterline`: links in the repository, folders where it is installed."""
RULES = ("invariants", "model/atomic", "model/message")
"""Read by the digest of a problem, function by function."""
ASIDE = (
    "checker/user_models/scripts",
    "checker/analysis/compare",
    "checker/kafka/confirm",
    "checker/cli",
    "checker/analysis/explain",
    "checker/report/pages",
    "checker/kafka/scenarios",
    "checker/analysis/simulate",
    "checker/kafka/narrative",
    "checker/tla",
    "checker/report/viewer",
)
"""No search and no gate's answer comes here: a test walks the imports."""
LIBRARIES = ("llvmlite", "msgspec", "networkx", "numpy")
"""Libraries whose versions are in the digest, in addition to that of Python."""


@functools.cache
def program_digest() -> str:
    """A name for this program and what it runs on."""
    digest = hashlib.sha256(f"{sys.version} {sys.flags.optimize}\n".encode())
    for library in LIBRARIES:
        digest.update(f"{library} {importlib.metadata.version(library)}\n".encode())
    digest.update(text_of(sources()))
    return digest.hexdigest()


def text_of(paths: Iterable[Path]) -> bytes:
    """Names, sizes and contents of these modules of ours, one after the other."""
    found = bytearray()
    for path in paths:
        content = path.read_bytes()
        found += f"{path.relative_to(PACKAGES).as_posix()} {len(content)}\n".encode()
        found += content
    return bytes(found)


def sources() -> Iterator[Path]:
    """Every module whose text is in the digest, in order."""
    left_out = [PACKAGES / each for each in (*RULES, *ASIDE)]
    for path in modules_of_package():
        if not any(path.is_relative_to(folder) for folder in left_out):
            yield path


def modules_of_package() -> list[Path]:
    """Every module of `waterline`, in order."""
    # Links to folders are not followed below the folder where a search begins.
    within = [path for name in OUR_PACKAGES for path in (PACKAGES / name).rglob("*.py")]
    return sorted([*within, *PACKAGES.glob("*.py")])
