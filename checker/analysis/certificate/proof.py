"""Certificate of a proof by induction: for each obligation the assumptions that its query took.

It only tells the solver which lemmas to begin from. The obligations are those of the rules as they
are now, all of them and in their order, and each is proved again. Fewer assumptions prove less, so
what is proved from those that are named is proved; a name that is none of the assumptions is
refused. The digest of the rules guards against accidents.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import msgspec

from waterline.checker.analysis.certificate.header import HEADER, PROOF, BadCertificate
from waterline.checker.analysis.certificate.reading import Stating, read_stating
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import ProblemSpec
from waterline.checker.proof.obligations import Obligation
from waterline.checker.proof.proving import Answer, Proof, Subject, never_happen
from waterline.checker.proof.solver import Attempt, Outcome, ask, core_of
from waterline.checker.storage.storage import written_aside


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    """Assumptions that an obligation took, by its two names, and how they are instantiated."""

    of: str
    goal: str
    takes: list[str]
    generations: Annotated[int, msgspec.Meta(ge=1, le=2)]
    values: bool


class ProofDocument(Stating, forbid_unknown_fields=True):
    """All of it. `rules` is the digest of rules, claims and lemmas."""

    rules: str
    solver: str
    obligations: list[_Entry]


def rules_of(subject: Subject) -> Problem:
    """The problem that has all rules, claims and lemmas of a theorem."""
    theorem = subject.theorem
    model = theorem.model(subject.searched)
    return Problem(model, theorem.invariants, properties=theorem.steps)


def write_proof(
    subject: Subject, proof: Proof, *, out: Path, solver: str, watch: Callable[[int], None]
) -> None:
    """Write what the obligations of a proof took, which is found out here, to a new folder.

    Raises `BadLocation` where `out` is neither new nor empty.
    """
    problem = rules_of(subject)
    spec = replace(problem.spec, claims=frozenset(subject.theorem.names))
    lines: list[str] = []
    with written_aside(out) as folder:
        each = zip(subject.theorem.induction().all(), proof.answered, strict=True)
        for number, (obligation, answered) in enumerate(each, 1):
            names, generations, values = core_of(obligation, answered.attempt.number)
            entry = _Entry(obligation.what, obligation.lemma, list(names), generations, values)
            lines.append(f"    {json.dumps(msgspec.to_builtins(entry))}")
            watch(number)
        header = {
            "format": PROOF,
            "problem": spec.to_json(),
            "solver": solver,
            "rules": problem_digest(problem),
        }
        head = json.dumps(header, indent=2).removesuffix("\n}")
        text = ",\n".join(lines)
        whole = f'{head},\n  "obligations": [\n{text}\n  ]\n}}\n'
        (folder / HEADER).write_text(whole, encoding="utf-8")


def read_proof(folder: Path) -> tuple[ProofDocument, ProblemSpec]:
    """The certificate of a proof in a folder. Raises `BadCertificate`."""
    return read_stating(folder, PROOF, ProofDocument)


def prove_again(
    document: ProofDocument,
    subject: Subject,
    folder: Path,
    watch: Callable[[Proof], None],
    answer: Callable[[str], Attempt] = ask,
) -> Proof:
    """Prove every obligation of a theorem again, up to the first that does not follow.

    `answer` is the solver. That each action happens is found out by z3 and the interpreter.

    Raises `BadCertificate` where the certificate is not of these rules, or lacks an obligation.
    """
    if document.rules != problem_digest(rules_of(subject)):
        raise BadCertificate(
            f"{folder} is of other rules, claims or lemmas than {subject.name} has now; make the "
            "certificate anew"
        )
    theorem = subject.theorem
    proof = Proof(never=never_happen(theorem.within(subject.small)))
    for obligation, named in zip_longest(theorem.induction().all(), document.obligations):
        names = _names(obligation, named, folder)
        attempt = answer(obligation.text(names, named.generations, named.values))
        proof.answered.append(Answer(obligation.what, obligation.lemma, attempt))
        watch(proof)
        if attempt.outcome is not Outcome.PROVED:
            break
    return proof


def _names(obligation: Obligation | None, named: _Entry | None, folder: Path) -> list[str]:
    """The assumptions that are named for an obligation. Raises `BadCertificate`."""
    due = "none" if obligation is None else f"{obligation.what}: {obligation.lemma}"
    there = "none" if named is None else f"{named.of}: {named.goal}"
    if obligation is None or named is None or due != there:
        raise BadCertificate(
            f"{folder} has other obligations than the rules: {there[:120]}, where {due} is due"
        )
    others = [name for name in named.takes if name not in obligation.assumed]
    if others:
        raise BadCertificate(f"{folder}: {due} takes {others[0][:60]!r}, which is no assumption")
    return named.takes
