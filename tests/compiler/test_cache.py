"""Machine code on disk: what it was made of is in its name, and what is not whole is made anew."""

from __future__ import annotations

import ctypes
import os
import stat
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.edited_rules import EDITS, RULES, with_rules
from tests.support.graph_model import graph_problem
from tests.support.sampling import drawn
from waterline.checker.compiler import cache, machine, program, sources
from waterline.checker.compiler.kernel import (
    is_compiled,
    kernel_of,
    plan_of,
    program_of,
    recipes_of,
)
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.problem import Problem
from waterline.model.message.environment import Environment


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(program, "_in_memory", {})
    monkeypatch.setattr(sources, "SETTLED_SECONDS", float("inf"))  # so that there are no keys
    forget()
    yield
    forget()


def forget() -> None:
    """What this process knows of programs."""
    program.forget()


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled."""
    made: list[str] = []
    really = machine.object_code

    def object_code(text: str, *, rules: bool) -> bytes:
        made.append(text)
        return really(text, rules=rules)

    monkeypatch.setattr(machine, "object_code", object_code)
    return made


def small_problem() -> Problem:
    """One action and one claim: each test compiles them once or twice."""
    problem = graph_problem([(0, 1)])
    model = replace(
        problem.model, actions=problem.model.actions[:1], contents=problem.model.contents[:1]
    )
    claims = problem.invariants[:1]
    return Problem(model, claims)


PROBLEM = small_problem()


def anew(problem: Problem = PROBLEM) -> None:
    """Get the kernel as another process would."""
    forget()
    load(problem)


def load(problem: Problem) -> None:
    """Optimised code. That of `tests/compiler/test_quick_code.py` has other names."""
    for recipe in recipes_of(problem):
        program.load_program(recipe)


def file_of(problem: Problem = PROBLEM) -> Path:
    return cache.folder() / f"{program_of(plan_of(problem)).name}.o"


def test_what_was_compiled_once_is_loaded(compilations: list[str]) -> None:
    assert not is_compiled(PROBLEM)
    anew()
    anew()

    assert is_compiled(PROBLEM)
    assert len(compilations) == 1
    assert [path.name for path in cache.folder().iterdir()] == [file_of().name]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda code: b"", id="empty"),
        pytest.param(lambda code: code[: len(code) // 2], id="cut short"),
        pytest.param(lambda code: code[:-1], id="one byte short"),
        pytest.param(lambda code: code[:-9] + b"x" + code[-8:], id="one byte changed"),
        pytest.param(lambda code: b"x" + code[1:], id="another format"),
        pytest.param(lambda code: b"\x80\x04K\x01.", id="a pickle"),
    ],
)
def test_a_file_that_is_not_whole_is_made_again_silently(
    damage: object, compilations: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    anew()
    whole = file_of().read_bytes()
    file_of().write_bytes(damage(whole))  # type: ignore[operator]

    anew()

    assert len(compilations) == 2
    assert file_of().read_bytes() == whole
    assert capfd.readouterr() == ("", "")


def test_a_whole_file_that_holds_no_code_is_made_again(compilations: list[str]) -> None:
    anew()
    cache.keep(file_of().stem, b"no code at all")
    assert cache.lookup(file_of().stem) == b"no code at all"

    anew()

    assert len(compilations) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("whose", ["cache", "kernels"])
def test_a_folder_of_another_user_is_not_used(whose: str, compilations: list[str]) -> None:
    anew()
    os.chown(cache.folder() if whose == "kernels" else cache.cache_directory(), 12345, -1)

    anew()

    assert len(compilations) == 2


@pytest.mark.parametrize("bit", [stat.S_IWGRP, stat.S_IWOTH], ids=["group", "others"])
@pytest.mark.parametrize("which", ["cache", "kernels"])
def test_a_folder_that_others_can_write_to_is_not_used(
    which: str, bit: int, compilations: list[str]
) -> None:
    anew()
    opened = cache.folder() if which == "kernels" else cache.cache_directory()
    opened.chmod(0o700 | bit)

    anew()

    assert len(compilations) == 2


def test_a_file_that_others_can_write_to_is_not_loaded(compilations: list[str]) -> None:
    anew()
    file_of().chmod(0o666)

    anew()

    assert len(compilations) == 2


def test_a_link_in_place_of_a_file_is_not_followed(compilations: list[str], tmp_path: Path) -> None:
    anew()
    elsewhere = tmp_path / "elsewhere.o"
    file_of().rename(elsewhere)
    file_of().symlink_to(elsewhere)

    anew()

    assert len(compilations) == 2
    assert not file_of().is_symlink()


def test_a_pipe_in_place_of_a_file_is_not_waited_for(compilations: list[str]) -> None:
    anew()
    file_of().unlink()
    os.mkfifo(file_of(), 0o600)

    anew()

    assert len(compilations) == 2
    assert stat.S_ISREG(file_of().stat().st_mode)


def test_the_file_of_another_program_under_its_name_is_not_loaded(
    compilations: list[str], tmp_path: Path
) -> None:
    other = with_rules(RULES, tmp_path)
    anew()
    anew(other)
    file_of().write_bytes(file_of(other).read_bytes())

    anew()

    assert len(compilations) == 3


def test_the_folder_is_made_for_its_user_alone() -> None:
    anew()

    assert stat.S_IMODE(cache.folder().stat().st_mode) == 0o700


def test_where_nothing_can_be_kept_it_is_compiled_all_the_same(
    compilations: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path / "file"))

    anew()

    assert len(compilations) == 1


def test_of_several_threads_one_compiles(compilations: list[str]) -> None:
    threads = [threading.Thread(target=load, args=(PROBLEM,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(compilations) == 1


def test_compiled_code_runs_without_the_interpreters_lock() -> None:
    expand = kernel_of(PROBLEM).expand

    held = 0x4
    assert ctypes.PyDLL._func_flags_ & held  # ctypes calls it FUNCFLAG_PYTHONAPI
    assert not expand._flags_ & held  # type: ignore[attr-defined]


# --- what the code was made of -------------------------------------------------------------------


@pytest.mark.parametrize("edit", drawn(EDITS, 3))
def test_an_edit_gives_another_kernel_and_other_rules(edit: str, tmp_path: Path) -> None:
    assert_another_kernel(edit, tmp_path)


def assert_another_kernel(edit: str, folder: Path) -> None:
    """Rules with an edit have another kernel, and another digest."""
    old, new = EDITS[edit]
    assert old in RULES
    before, after = with_rules(RULES, folder), with_rules(RULES.replace(old, new), folder)

    assert program_of(plan_of(before)).name != program_of(plan_of(after)).name
    assert problem_digest(before) != problem_digest(after)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3\n", "# The limit.\nLIMIT = 3\n\n"),
        ("def effect(s, c, target):\n", 'def effect(s, c, target):\n    """Go there."""\n'),
        ("n + 1 in", "(n + 1) in"),
    ],
    ids=["a comment", "a docstring", "brackets"],
)
def test_what_means_the_same_changes_nothing(old: str, new: str, tmp_path: Path) -> None:
    before, after = with_rules(RULES, tmp_path), with_rules(RULES.replace(old, new), tmp_path)

    assert program_of(plan_of(before)).name == program_of(plan_of(after)).name
    assert problem_digest(before) == problem_digest(after)


def test_a_global_that_was_set_anew_gives_another_kernel(tmp_path: Path) -> None:
    problem = with_rules(RULES, tmp_path)
    before = program_of(plan_of(problem)).name, problem_digest(problem)
    problem.model.actions[0].guard.__globals__["LIMIT"] = 5
    forget()

    assert program_of(plan_of(problem)).name != before[0]
    assert problem_digest(problem) != before[1]


def test_a_setting_a_size_and_a_processor_are_part_of_the_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problems = [
        problem_for("hw", Environment()),
        problem_for("hw", Environment(restarts=1)),
        problem_for("hw", Environment(epochs=1)),
        problem_for("epoch", Environment()),
        problem_for("hw", Environment(), ["sane"]),
    ]
    names = {program_of(plan_of(problem)).name for problem in problems}
    here = machine.description()
    monkeypatch.setattr(machine, "description", lambda: f"{here} and another processor")
    names.add(program_of(plan_of(problems[0])).name)

    assert len(names) == 6


# --- what makes two runs the same run ------------------------------------------------------------


def test_another_claim_changes_nothing_of_a_run_that_does_not_ask_it() -> None:
    problem = problem_for("hw", Environment(), ["sane", "hw_monotone"])
    fewer = replace(
        problem,
        invariants=tuple(claim for claim in problem.invariants if claim.name == "sane"),
    )
    more = replace(
        problem,
        invariants=(replace(problem.invariants[0], name="new", default=False), *problem.invariants),
    )

    assert problem_digest(problem) == problem_digest(fewer) == problem_digest(more)


def test_a_claim_that_is_checked_is_part_of_a_run() -> None:
    problem = problem_for("hw", Environment(), ["sane"])
    other = replace(
        problem,
        invariants=tuple(
            replace(claim, holds=problem.invariants[0].holds) if claim.name == "sane" else claim
            for claim in problem.invariants
        ),
    )

    assert problem_digest(problem) != problem_digest(other)
    assert problem_digest(problem) != problem_digest(problem_for("hw", Environment()))
