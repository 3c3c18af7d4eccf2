"""Problems of one shape, explored by one kernel.

Where a test has many small spaces, to compile each of them takes longer than to explore it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import TypeVar

from waterline.checker.problem.problem import Problem, sharing

Key = TypeVar("Key", bound=Hashable)


def alike(problems: Mapping[Key, Problem]) -> dict[Key, Problem]:
    """The same problems, each with what those of its shape have between them."""
    shapes: dict[Hashable, list[Problem]] = defaultdict(list)
    for problem in problems.values():
        shapes[_shape(problem)].append(problem)
    shared = {shape: sharing(together) for shape, together in shapes.items()}
    return {
        key: replace(problem, shared=shared[_shape(problem)]) for key, problem in problems.items()
    }


def _shape(problem: Problem) -> Hashable:
    return problem.model.name, problem.model.layout
