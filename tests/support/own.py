"""Models of one's own: the examples, and files that a test writes."""

from __future__ import annotations

from pathlib import Path

from waterline.checker.problem.problem import Problem
from waterline.checker.user_models.family import family_in
from waterline.checker.user_models.vetting import vet

EXAMPLES = Path(__file__).parents[2] / "examples"


def own_problem(file: Path, symmetry: str = "none", **bounds: int) -> Problem:
    """The first protocol of a file within these bounds."""
    family = family_in(file)
    first = next(iter(family.versions))
    return vet(family.problem(first, bounds, symmetry=symmetry))


def example(name: str, symmetry: str = "none", **bounds: int) -> Problem:
    """An example by the name of its file."""
    return own_problem(EXAMPLES / f"{name}.py", symmetry, **bounds)
