"""Certificate that was read: its header, the problem built anew from it, and its states.

The problem is made by the rules that there are now. Those that were in force when it was written
do not matter, as long as states are packed alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from waterline.checker.analysis.certificate.header import (
    STATES,
    BadCertificate,
    Header,
    describe_layout,
)
from waterline.checker.analysis.certificate.keys import BYTES
from waterline.checker.analysis.certificate.reading import read_header
from waterline.checker.analysis.certificate.state_file import StateFile
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.family import FindFamily
from waterline.checker.problem.problem import Problem
from waterline.checker.search.result import Verdict
from waterline.model.core.errors import BadEnvironment


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
