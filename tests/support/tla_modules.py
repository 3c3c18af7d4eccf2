"""Modules of models that a test writes, and TLC, where it can be had."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from lab.bench.peers.tlc import TlcMissing, tlc_jar
from lab.bench.tla import differences, ours, temporal_of, theirs
from waterline.checker.problem.problem import Problem
from waterline.checker.tla.kafka.module import export
from waterline.checker.tla.module import Module
from waterline.checker.user_models.family import own_family


def problem_of(text: str, **bounds: int) -> Problem:
    """The problem of a file with this text."""
    family = own_family(text, "mine.py")
    return family.problem(next(iter(family.versions)), bounds, symmetry="none")


def module_of(text: str, **bounds: int) -> Module:
    """The module of a file with this text."""
    return export(problem_of(text, **bounds))


def definition(module: Module, name: str) -> str:
    """The text of an operator of the module."""
    for part in module.text.split("\n\n"):
        lines = [line for line in part.splitlines() if not line.startswith("\\*")]
        if lines and lines[0].split(" ==")[0].split("(")[0] == name:
            return "\n".join(lines)
    raise AssertionError(f"no {name} in {module.text}")


@functools.cache
def tlc() -> Path:
    """TLC's jar; the test is skipped, with the reason, where it cannot be had."""
    try:
        return tlc_jar()
    except TlcMissing as problem:
        pytest.skip(str(problem))


def differences_from_tlc(problem: Problem, module: Module) -> list[str]:
    """What TLC says otherwise of the module than Waterline of the model.

    Spaces are so small that a JVM which compiles well takes longer.
    """
    mine = ours(problem, module)
    found = theirs(tlc(), module, mine, temporal_of(problem), jvm=("-XX:TieredStopAtLevel=1",))
    return differences(mine, found)
