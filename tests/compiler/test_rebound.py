"""Names that a program rebinds between two searches: the second is as one of its own process."""

from __future__ import annotations

import builtins
import importlib
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.fuzz.interpreted import Interpreted
from tests.support.sampling import drawn
from waterline.checker.compiler import program, sources
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.compiler.source import NotCompilable
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.search import search
from waterline.model.core.claim import Invariant, Reachable
from waterline.model.core.layout import Field, Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model, Narration

HELPER = """\
LIMIT = 3
TABLE = (1, 2, 3)


class Bounds:
    MOST = 3


def allowed(n):
    return n < LIMIT


def other(n):
    return n < 5


def with_default(n, most=3):
    return n < most
"""
RULES = """\
import helper
from helper import allowed, with_default

LIMIT = 3
SAME = 3


def guard(s, c):
    return {guard}


def effect(s, c):
    s.at = s.at + 1


def holds(s, c):
    return s.at < {claimed}


def happens(s, t, c):
    return t.at == SAME
"""
GUARDS = {
    "a constant": "s.at < LIMIT",
    "a constant of another module": "s.at < helper.LIMIT",
    "a table": "s.at < helper.TABLE[2]",
    "a class": "s.at < helper.Bounds.MOST",
    "a helper": "allowed(s.at)",
    "what a helper reads": "allowed(s.at)",
    "code": "allowed(s.at)",
    "a default": "with_default(s.at)",
    "a built-in function": "min(s.at, 7) < LIMIT",
    "a claim": "s.at < LIMIT",
}
_SETTINGS = type("Settings", (tuple,), {"_fields": ()})


@pytest.fixture(params=[float("-inf"), float("inf")], ids=["with keys", "without"])
def settled(request: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache; once with sources that nobody edits, and once with such as have no key."""
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "SETTLED_SECONDS", request.param)
    program.forget()


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Makes the module of a guard, with a helper module beside it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def made(guard: str, claimed: str = "LIMIT + 9") -> Any:
        (tmp_path / "helper.py").write_text(HELPER)
        (tmp_path / "rules.py").write_text(RULES.format(guard=guard, claimed=claimed))
        importlib.invalidate_caches()
        return importlib.import_module("rules")

    yield made
    for name in ("rules", "helper"):
        sys.modules.pop(name, None)


def problem_of(rules: types.ModuleType) -> Problem:
    layout = Layout([Field(name="at", hi=7, doc="")], sizes={})
    action = Action(name="go", parameters=(), guard=rules.guard, effect=rules.effect)
    model = Model(
        name="rebound",
        version="1",
        layout=layout,
        settings=_SETTINGS(),
        actions=(action,),
        contents=("go",),
        limits=("within",),
        initial=(State(layout),),
        narration=Narration(sentence=str, rows=lambda state: [], summary=lambda state: []),
        options={},
    )
    claim = Invariant(name="low", sentence="", holds=rules.holds, explain=lambda *given: "")
    covers = (Reachable(name="there", sentence="", happens=rules.happens),)
    return Problem(model, (claim,), covers)


def found_by(problem: Problem, engine: Any) -> tuple[Any, ...]:
    with closing(engine):
        result = search(problem, engine)
    verdicts = [(each.name, each.verdict, each.depth) for each in result.invariants]
    return result.distinct, result.fired, verdicts, result.reachable


def searched(problem: Problem) -> tuple[Any, ...]:
    """By compiled rules, which must be what they are now."""
    prepare(problem)
    return found_by(problem, MemoryEngine(problem, threads=1))


def rebind(kind: str, rules: Any) -> None:
    """Let three be five."""
    helper = rules.helper
    match kind:
        case "a constant" | "a claim":
            rules.LIMIT = 5
        case "a constant of another module" | "what a helper reads":
            helper.LIMIT = 5
        case "a table":
            helper.TABLE = (1, 2, 5)
        case "a class":
            helper.Bounds.MOST = 5
        case "a helper":
            rules.allowed = helper.other
        case "code":
            helper.allowed.__code__ = helper.other.__code__
        case "a default":
            helper.with_default.__defaults__ = (5,)
        case "a built-in function":
            rules.min = with_two_less


def as_ever(*given: Any, real: Any = min, **options: Any) -> Any:
    return real(*given, **options)


def with_two_less(n: int, most: int) -> int:
    return n - 2


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("kind", drawn(GUARDS, 5))
def test_a_second_search_reads_what_its_names_stand_for_by_then(
    kind: str, modules: Callable[..., Any]
) -> None:
    assert_read_anew(kind, modules)


def assert_read_anew(kind: str, modules: Callable[..., Any]) -> None:
    """A second search finds what a first one does after the same rebinding."""
    rules = modules(GUARDS[kind], "LIMIT" if kind == "a claim" else "LIMIT + 9")
    problem = problem_of(rules)
    before, digest = searched(problem), problem_digest(problem)
    rebind(kind, rules)
    after = searched(problem)

    assert before[0] == 4
    assert after[0] == 6
    assert after == found_by(problem, Interpreted(problem))
    assert problem_digest(problem) != digest
    assert searched(problem) == after


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("kind", ["a helper", "code"])
def test_an_engine_that_nothing_was_prepared_for_runs_what_names_stand_for_too(
    kind: str, modules: Callable[..., Any]
) -> None:
    rules = modules(GUARDS[kind])
    problem = problem_of(rules)
    before = found_by(problem, MemoryEngine(problem, threads=1))
    rebind(kind, rules)
    after = found_by(problem, MemoryEngine(problem, threads=1))

    assert (before[0], after[0]) == (4, 6)


@pytest.mark.usefixtures("settled")
def test_rules_of_a_module_that_was_read_again_are_those_of_its_file(
    modules: Callable[..., Any], tmp_path: Path
) -> None:
    rules = modules("allowed(s.at)")
    before = searched(problem_of(rules))
    (tmp_path / "helper.py").write_text(HELPER.replace("n < LIMIT", "n  <  LIMIT + 2"))
    importlib.invalidate_caches()
    importlib.reload(rules.helper)
    rules = importlib.reload(rules)

    assert before[0] == 4
    assert searched(problem_of(rules))[0] == 6


@pytest.mark.usefixtures("settled")
def test_a_built_in_function_that_was_replaced_is_refused_the_second_time_too(
    modules: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = problem_of(modules(GUARDS["a built-in function"]))
    searched(problem)
    monkeypatch.setattr(builtins, "min", as_ever)

    with pytest.raises(NotCompilable):
        prepare(problem)
    monkeypatch.undo()


def test_what_has_not_changed_is_written_once(
    modules: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, settled: None
) -> None:
    problem = problem_of(modules(GUARDS["what a helper reads"]))
    searched(problem)
    monkeypatch.setattr(program.Recipe, "program", lambda recipe: pytest.fail(str(recipe.write)))

    searched(replace(problem))
