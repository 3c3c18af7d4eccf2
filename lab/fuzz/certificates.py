"""Mutants of the rules judge certificates: what they certify must be so by a search of their own.

Two small certificates, a bounded and an unbounded one, are written by the rules as they are. Each
mutant, in a process of its own, judges both. What it does not certify shows that the alteration is
noticed. Where it certifies a set, a plain search by the altered rules must find no state outside. A
mutant that has no first state is invalid.

    python -m lab.fuzz.certificates [--seed N] [--minutes M]
"""

from __future__ import annotations

import json
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from lab.fuzz.laboratory import Laboratory
from lab.fuzz.mutants import MODULES, mutants_of
from lab.fuzz.rounds import Round, Wrong, attack
from waterline.checker.analysis.certificate.certificate import Certificate, open_certificate
from waterline.checker.analysis.certificate.certifying import certify
from waterline.checker.analysis.certificate.renaming import key_of
from waterline.checker.analysis.certificate.writing import write_certificate
from waterline.checker.checking.run import run
from waterline.checker.kafka.families import family_of, problem_for
from waterline.checker.problem.errors import Refused
from waterline.checker.search.engines.engine import EngineChoice
from waterline.model.message.environment import Environment

NOTICED, RIGHT, WRONG = "noticed", "certified, rightly", "CERTIFIED WRONGLY"
SECONDS_MAX = 300
PROBLEMS = {
    "bounded": ("epoch", Environment(records=1, epochs=1, restarts=1, moves=1)),
    "unbounded": ("kip320", Environment(records=1, restarts=1, moves=0, unbounded=True)),
}


def judge(folder: str) -> None:
    """Judge both certificates by this process's rules, and print what came of it."""
    signal.alarm(SECONDS_MAX)
    steps = []
    for name in PROBLEMS:
        try:
            certificate = open_certificate(Path(folder, name), family_of)
        except Refused as refused:
            print(json.dumps({"outcome": NOTICED, "by": name, "how": str(refused)[:90]}))
            return
        certified = certify(certificate, jobs=1)
        if certified.failure is not None:
            print(json.dumps({"outcome": NOTICED, "by": name, "how": certified.failure.what[:90]}))
            return
        if not stays_within(certificate):
            print(json.dumps({"outcome": WRONG, "by": name}))
            return
        steps.append(f"{certified.steps:,}")
    print(json.dumps({"outcome": RIGHT, "how": f"{' and '.join(steps)} steps"}))


def stays_within(certificate: Certificate) -> bool:
    """True if a plain search finds no state that is not in the set."""
    model, width = certificate.problem.model, certificate.states.width
    keys = {
        piece[start : start + width]
        for piece in certificate.states.all_pieces()
        for start in range(0, len(piece), width)
    }
    seen, pending = {*model.initial}, [*model.initial]
    while pending:
        state = pending.pop()
        if key_of(state.words) not in keys:
            return False
        new = {step.after for step in model.successors(state)} - seen
        seen |= new
        pending += new
    return True


@contextmanager
def rounds() -> Iterator[Round]:
    """A mutant a round."""
    with tempfile.TemporaryDirectory(prefix="waterline-mutation-") as directory:
        for name, (version, environment) in PROBLEMS.items():
            finished = partial(write_certificate, out=Path(directory, name))
            run(problem_for(version, environment), EngineChoice(name="local"), finished=finished)
        laboratory = Laboratory(Path(directory))

        def make_round(seed: int, seen: Counter[str]) -> None:
            draw = random.Random(seed)
            mutant = draw.choice([*mutants_of(draw.choice(MODULES))])
            laboratory.judge(mutant, f"certificates.judge({directory!r})")
            seen[mutant.outcome] += 1
            if mutant.outcome == WRONG:
                raise Wrong(f"{mutant}: {mutant.outcome} by {mutant.by}")

        yield make_round


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.certificates", rounds))
