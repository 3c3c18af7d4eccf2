"""Certificate of a proof by induction: for each obligation the assumptions that its query took.

It only tells the solver which lemmas to begin from. The obligations are those of the rules as they
are now, all of them and in their order, and each is proved again. Fewer assumptions prove less, so
what is proved from those that are named is proved; a name that is none of the assumptions is
refused. The digest of the rules guards against accidents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
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
from waterline.checker.proof.obligations import Obligation, Query
from waterline.checker.proof.proving import Answer, Proof, Subject, never_happen
from waterline.checker.proof.side_by_side import Solvers
from waterline.checker.proof.solver import EFFORT, RECIPE, Ask, Outcome, ask
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


def write_proof(subject: Subject, proof: Proof, *, out: Path, solver: str) -> None:
    """Write what the obligations of a proof took to a new folder.

    Raises `BadLocation` where `out` is neither new nor empty.
    """
    problem = rules_of(subject)
    spec = replace(problem.spec, claims=frozenset(subject.theorem.names))
    header = {
        "format": PROOF,
        "problem": spec.to_json(),
        "solver": solver,
        "rules": problem_digest(problem),
    }
    head = json.dumps(header, indent=2).removesuffix("\n}")
    lines = (f"    {json.dumps(msgspec.to_builtins(_entry(each)))}" for each in proof.answered)
    text = ",\n".join(lines)
    with written_aside(out) as folder:
        whole = f'{head},\n  "obligations": [\n{text}\n  ]\n}}\n'
        (folder / HEADER).write_text(whole, encoding="utf-8")


def _entry(answered: Answer) -> _Entry:
    trial, takes = RECIPE[answered.attempt.number - 1], list(answered.attempt.takes)
    return _Entry(answered.what, answered.lemma, takes, trial.generations, trial.values)


def read_proof(folder: Path) -> tuple[ProofDocument, ProblemSpec]:
    """The certificate of a proof in a folder. Raises `BadCertificate`."""
    return read_stating(folder, PROOF, ProofDocument)


def prove_again(
    document: ProofDocument,
    subject: Subject,
    folder: Path,
    watch: Callable[[Proof], None],
    ask: Ask = ask,
    jobs: int = 0,
) -> Proof:
    """Prove every obligation of a theorem again, up to the first that does not follow.

    The solver is `ask`, on so many threads as `jobs`, 0: one for each core. That each action
    happens is found out by z3 and the interpreter.

    Raises `BadCertificate` where the certificate is not of these rules, or lacks an obligation.
    """
    if document.rules != problem_digest(rules_of(subject)):
        raise BadCertificate(
            f"{folder} is of other rules, claims or lemmas than {subject.name} has now; make the "
            "certificate anew"
        )
    proof = Proof()
    with Solvers[Obligation](jobs) as solvers:
        queries = ((each, (query, ask)) for each, query in _queries(document, subject, folder))
        for obligation, attempt in solvers.ahead(queries):
            proof.answered.append(Answer(obligation.what, obligation.lemma, attempt))
            watch(proof)
            if attempt.outcome is not Outcome.PROVED:
                break
    proof.never = never_happen(subject.theorem.within(subject.small))
    return proof


def _queries(
    document: ProofDocument, subject: Subject, folder: Path
) -> Iterator[tuple[Obligation, Query]]:
    """All obligations, each with its query. Raises `BadCertificate`."""
    every = subject.theorem.induction().all()
    for obligation, named in zip_longest(every, document.obligations):
        due = "none" if obligation is None else f"{obligation.what}: {obligation.lemma}"
        there = "none" if named is None else f"{named.of}: {named.goal}"
        if obligation is None or named is None or due != there:
            raise BadCertificate(
                f"{folder} has other obligations than the rules: {there[:120]}, where {due} is due"
            )
        others = [name for name in named.takes if name not in obligation.assumed]
        if others:
            raise BadCertificate(
                f"{folder}: {due} takes {others[0][:60]!r}, which is no assumption"
            )
        query = obligation.query(named.takes, named.generations, named.values)
        yield obligation, query._replace(effort=EFFORT)
