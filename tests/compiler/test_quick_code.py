"""Code that is not optimised: the same answers, and in the middle of a search optimised code."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.graph_model import graph_problem
from tests.support.own import example
from waterline.checker.compiler import cache, machine, program
from waterline.checker.compiler.kernel import is_compiled, kernel_of, optimising, recipes_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Result
from waterline.checker.search.search import search

IN_SEVERAL_LEVELS = graph_problem([(i, j) for i in range(9) for j in (i + 1, i)])


@pytest.fixture(autouse=True)
def anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache, and a process that has loaded nothing."""
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path / "cache"))
    program.forget()
    yield
    wait_for_optimising()
    program.forget()


def wait_for_optimising() -> None:
    for thread in threading.enumerate():
        if thread.name == "optimising":
            thread.join()


def never(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "OPTIMISE_AFTER_SECONDS_A_BYTE", float("inf"))


def untimed(result: Result) -> Result:
    levels = [replace(level, seconds=0.0) for level in result.levels]
    return replace(result, seconds=0.0, peak_rss=0, levels=levels)


def found(problem: Problem) -> tuple[Result, list[bytes]]:
    """The result, and every level in the order of its states."""
    with closing(MemoryEngine(problem, threads=2)) as engine:
        result = untimed(search(problem, engine))
        levels = [
            b"".join(rows.tobytes() for rows in engine.sorted_level(depth))
            for depth in range(engine.depth + 1)
        ]
    return result, levels


def test_code_that_is_not_optimised_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_the_same_when_optimised(example("two_phase_commit", rms=4), monkeypatch)


def assert_the_same_when_optimised(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searched by quick code, and then by optimised code."""
    never(monkeypatch)
    quick = found(problem)
    assert not optimising(problem).is_done
    for recipe in recipes_of(problem):
        program.load_program(recipe)
    assert optimising(problem).is_done

    assert found(problem) == quick
    assert quick[0].distinct > 500


def test_in_the_middle_of_a_search_optimised_code_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    never(monkeypatch)
    expected, _ = found(IN_SEVERAL_LEVELS)
    program.forget()
    monkeypatch.setattr(program, "OPTIMISE_AFTER_SECONDS_A_BYTE", 0.0)
    taken: list[int] = []

    with closing(MemoryEngine(IN_SEVERAL_LEVELS, threads=2)) as engine:

        def at_each_level(snapshot: Any) -> None:
            wait_for_optimising()
            taken.append(snapshot.depth)

        result = search(IN_SEVERAL_LEVELS, engine, watch=at_each_level)

    assert optimising(IN_SEVERAL_LEVELS).is_done
    assert len(taken) > 5
    assert untimed(result) == expected


def test_much_work_is_optimised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    really = machine.object_code

    def object_code(text: str, *, rules: bool) -> bytes:
        compiled.append(text)
        return really(text, rules=rules)

    monkeypatch.setattr(machine, "object_code", object_code)
    kernel_of(IN_SEVERAL_LEVELS)
    counted = [optimising(IN_SEVERAL_LEVELS) for _ in range(3)]
    [recipe] = recipes_of(IN_SEVERAL_LEVELS)
    enough = program.optimise_after_seconds(program.program_facts(recipe))
    for each in counted:
        each.note_work(enough / 4)
    assert compiled == []

    for each in counted:
        each.note_work(enough)
    wait_for_optimising()

    assert len(compiled) == 1
    assert all(each.is_done for each in counted)


def test_what_is_being_optimised_is_waited_for_and_not_made_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[str] = []
    really = machine.object_code

    def object_code(text: str, *, rules: bool) -> bytes:
        compiled.append(text)
        return really(text, rules=rules)

    monkeypatch.setattr(machine, "object_code", object_code)
    kernel_of(IN_SEVERAL_LEVELS)
    counted = optimising(IN_SEVERAL_LEVELS)
    assert not counted.is_done
    [recipe] = recipes_of(IN_SEVERAL_LEVELS)
    counted.note_work(program.optimise_after_seconds(program.program_facts(recipe)))
    program.load_program(recipe)

    assert counted.is_done
    assert len(compiled) == 1


def test_what_was_optimised_is_loaded_by_the_next_process() -> None:
    kernel_of(IN_SEVERAL_LEVELS)
    [recipe] = recipes_of(IN_SEVERAL_LEVELS)
    program.load_program(recipe)
    program.forget()

    kernel_of(IN_SEVERAL_LEVELS)

    assert optimising(IN_SEVERAL_LEVELS).is_done


def test_quick_code_is_kept_and_made_again_where_it_is_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []
    really = machine.quick_code

    def quick_code(text: str) -> bytes:
        made.append(text)
        return really(text)

    monkeypatch.setattr(machine, "quick_code", quick_code)
    kernel_of(IN_SEVERAL_LEVELS)
    program.forget()
    assert is_compiled(IN_SEVERAL_LEVELS)
    kernel_of(IN_SEVERAL_LEVELS)
    assert len(made) == 1

    code = max(cache.folder().iterdir(), key=lambda file: file.stat().st_size)
    whole = code.read_bytes()
    code.write_bytes(whole[:-9] + b"x" + whole[-8:])
    program.forget()
    kernel_of(IN_SEVERAL_LEVELS)

    assert len(made) == 2
    assert code.read_bytes() == whole
