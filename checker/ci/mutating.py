"""The mutants that an entry with `mutants = "guards"` demands to be noticed."""

from __future__ import annotations

from collections.abc import Iterator

from waterline.checker.ci.expectation import Expectation
from waterline.checker.mutants.accepted import reasons_for, survivors_of
from waterline.checker.mutants.judging import TooLarge, explore_original, judge_all
from waterline.checker.mutants.mutants import mutants_of
from waterline.checker.user_models.family import OwnFamily
from waterline.model.core.errors import BadEnvironment


def survivors_in(expectation: Expectation) -> Iterator[str]:
    """Yield the mutants of the entry's kind that no claim notices, and no reason excuses."""
    family, model = expectation.problem.family, expectation.problem.model
    assert isinstance(family, OwnFamily)
    own, bounds = family.own, family.own.bounds_in(model)
    try:
        mutants = mutants_of(own, model.version, bounds)
        reasons = reasons_for(own, mutants)
        chosen = [each for each in mutants if expectation.mutants in (each.kind, "all")]
        whole = family.problem(model.version, dict(bounds), ())
        judged = judge_all(chosen, explore_original(whole, own.file, bounds))
    except (BadEnvironment, TooLarge) as problem:
        yield str(problem)
        return
    for mutant, found in survivors_of(chosen, judged, reasons):
        yield f"no claim notices line {mutant.line}, {mutant.change}: {found.fate.value}"
