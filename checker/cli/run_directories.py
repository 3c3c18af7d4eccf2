"""A run that is kept: `--run-dir` begins one, `--resume` goes on with it.

A run that is resumed knows its question: options may repeat it, and are refused by name where they
differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from waterline.checker.cli.shared.own_options import file_and_name, finder
from waterline.checker.cli.shared.problem_options import (
    KINDS,
    ProblemOptions,
    problem_from,
    resolve,
)
from waterline.checker.problem.family import Family
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.where import NOWHERE
from waterline.checker.search.identity import identity_of, problem_of
from waterline.checker.storage.manifest import read_manifest
from waterline.checker.storage.run_directory import RunDirectory, begin, resume
from waterline.checker.storage.storage import storage_at
from waterline.model.core.errors import BadEnvironment


def problem_and_directory(
    options: ProblemOptions, kept: str | None, resumed: str | None
) -> tuple[Problem, RunDirectory]:
    """Return what to check, and where to keep it: `--run-dir` begins there, `--resume` goes on.

    Raises `BadEnvironment`, and what `begin` and `resume` raise.
    """
    options = resolve(options)
    if kept is not None and resumed is not None:
        raise BadEnvironment("--run-dir begins a run and --resume goes on with one; give one")
    for option, location in (("--run-dir", kept), ("--resume", resumed)):
        if location == "":
            # Else it would be the folder that one is in.
            raise BadEnvironment(f"{option} names no directory; give one, or leave it out")
    if kept is not None:
        problem = problem_from(options)
        with _errors_named(kept):
            return problem, begin(kept, identity_of(problem), problem.model.layout.words)
    assert resumed is not None
    identity = read_manifest(storage_at(resumed)).identity
    problem = problem_of(identity, resumed, finder(options.own_model))
    _require_same(options, problem, resumed)
    with _errors_named(resumed):
        return problem, resume(resumed)


@contextmanager
def _errors_named(location: str) -> Iterator[None]:
    """Has an error of the system say where; a full disk does not by itself."""
    try:
        yield
    except OSError as problem:
        problem.filename = problem.filename or location
        raise


def _require_same(options: ProblemOptions, problem: Problem, location: str) -> None:
    """Raise an error for an option that differs from those which the run began with."""
    model, family = problem.model, problem.family
    assert family is not None
    begun: dict[str, Any] = {
        "grain": family.name,
        "protocol": model.version,
        "symmetry": problem.symmetry.value,
        **{kind: _asks_all(problem, kind) for kind in KINDS},
        **model.options,
    }
    given = options.named_values()
    if options.own_model is not None:
        _, named = file_and_name(options.own_model)
        given |= {**dict(options.bounds), **({"protocol": named} if named else {})}
    if "symmetry" in given:
        given["symmetry"] = family.symmetry_asked(given["symmetry"])
    for name, value in given.items():
        if name == "invariant":
            begun[name] = tuple(sorted(problem.asked or ()))
            differs = not {*value} <= {*begun[name]} <= {*value, NOWHERE}
        elif name == "environment":
            begun[name] = family.environment_name(model.options) or "as given"
            differs = _differs(family, value, given, begun)
        else:
            differs = begun.get(name) != value
        if differs:
            raise BadEnvironment(
                f"--{name} {_describe(value)} is not what {location} was begun with: "
                f"{_describe(begun.get(name))}; "
                "leave it out, or begin another run with --run-dir"
            )


def _describe(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _asks_all(problem: Problem, kind: str) -> bool:
    asked = [problem.is_asked(c) for c in problem.behaviours if isinstance(c, KINDS[kind])]
    return bool(asked) and all(asked)


def _differs(
    family: Family, environment: str, given: dict[str, Any], begun: dict[str, Any]
) -> bool:
    """True if a named environment, with the options given, differs from the run's own."""
    if environment not in family.environments:
        return True
    expected = {**family.environments[environment].options(), **given}
    return any(expected.get(name, value) != value for name, value in begun.items())
