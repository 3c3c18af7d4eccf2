"""Identity of a run: its problem and the digests of rules and program.

A run that is resumed must ask the same question of the same rules, or its counts would be of
neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.problem.family import FindFamily
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.program_digest import program_digest
from waterline.checker.problem.spec import ProblemSpec
from waterline.checker.search.account import Account
from waterline.checker.search.result import LevelSummary
from waterline.checker.storage.manifest import BadRun, Manifest
from waterline.checker.storage.storage import Damaged
from waterline.model.core.errors import BadEnvironment


def identity_of(problem: Problem) -> dict[str, Any]:
    """The question and the rules, as plain values."""
    return {
        # Claims by name also where none was named: one that is added later is not this run's.
        **problem.spec.to_json(),
        "layout": problem.model.layout.digest,
        "rules": problem_digest(problem),
        "program": program_digest(),
    }


def problem_of(identity: Mapping[str, Any], location: str, find: FindFamily) -> Problem:
    """The problem of a run that is to be resumed, its family found by the name of its models.

    Raises `BadRun` where the rules are not those it was begun with, or are not known here, and
    `Damaged` where the values mean nothing.
    """
    try:
        problem = ProblemSpec.from_json(identity).build(find)
        now = identity_of(problem)
    except BadEnvironment as problem_found:
        raise BadRun(f"{location}: {problem_found}") from None
    except (KeyError, TypeError, ValueError) as problem_found:
        raise Damaged(f"{location}: the manifest is damaged: {problem_found}") from None
    differing = [name for name in now if now[name] != identity.get(name)]
    if differing == ["program"]:
        raise BadRun(
            f"{location} was begun by another version of Waterline, of Python or of a library; "
            "finish it there, or begin anew in another directory"
        )
    if differing or set(now) != set(identity):
        raise BadRun(
            f"{location} was begun with other rules than this version has; "
            "finish it there, or begin anew in another directory"
        )
    return problem


def account_of(problem: Problem, manifest: Manifest) -> Account:
    """Return the run's account after its last level. Raises `Damaged`."""
    levels = [LevelSummary(level.depth, level.states, level.on) for level in manifest.levels]
    assert manifest.account is not None
    try:
        return Account.from_values(problem, levels, manifest.account)
    except ValueError as problem_found:
        raise Damaged(f"the manifest's account is damaged: {problem_found}") from None
