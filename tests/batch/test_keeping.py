"""Answers that an earlier run kept: used where they are those of today, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from waterline.checker.batch import keeping as module
from waterline.checker.batch.in_memory import exploring
from waterline.checker.batch.keeping import keep, keeping, name_of
from waterline.checker.batch.question import UNWATCHED, Answer, Question, Trouble, Watch
from waterline.checker.kafka.matrix.grid import Grid, grid_over
from waterline.checker.kafka.matrix.questions import question_of
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import INTERRUPTED, Verdict


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that has machine code of other runs, and no answer."""
    monkeypatch.setattr(module, "cache_directory", lambda: tmp_path)
    return tmp_path


def grid(fault: str = "two crashes", version: str = "hw") -> Grid:
    return grid_over([], [("version", version), ("faults", fault)], records=1, epochs=2)


def question(**changed: object) -> Question:
    [cell] = grid().cells()
    asked = question_of(cell, grid())
    return replace(asked, budgets=replace(asked.budgets, **changed))  # type: ignore[arg-type]


def ask(questions: Sequence[Question]) -> tuple[list[Answer], int]:
    """The answers, and how many questions were explored for them."""
    explored = 0
    with exploring(EngineChoice(name="local")) as explorer:

        def counting(asked: Sequence[Question], watch: Watch) -> list[Answer]:
            nonlocal explored
            explored += len(asked)
            return explorer(asked, watch)

        return keeping(counting, states_min=10)(questions, UNWATCHED), explored


def test_a_second_run_explores_nothing_and_answers_the_same(folder: Path) -> None:
    """The claim breaks, so that a path is kept as well."""
    first, explored = ask([question()])
    again, explored_again = ask([question()])

    assert (explored, explored_again) == (1, 0)
    assert again == first
    assert first[0].paths
    assert len(list((folder / "answers").iterdir())) == 1


@pytest.mark.parametrize(
    "other",
    [
        question(max_states=999_999),
        question(stop_at_first=True),
        question(enough=frozenset(["acknowledged_durable"])),
        replace(question(), problem=replace(question().problem, asked=frozenset(["sane"]))),
        question_of(next(grid("one crash").cells()), grid()),
        question_of(next(grid(version="epoch").cells()), grid()),
    ],
    ids=["budget", "stop", "enough", "claims", "fault", "version"],
)
def test_another_question_has_another_answer(other: Question) -> None:
    assert name_of(question()) != name_of(other)


def test_another_program_does_not_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ask([question()])
    monkeypatch.setattr(module, "program_digest", lambda: "edited")

    assert ask([question()])[1] == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda body: body[:-1],
        lambda body: body.replace(b'"holds"', b'"heads"'),
        lambda body: body.replace(b"violated", b"holds   "),
        lambda body: b"",
    ],
    ids=["cut short", "verdict", "verdict of the same length", "empty"],
)
def test_a_file_that_was_changed_is_not_used(damage, folder: Path) -> None:  # type: ignore[no-untyped-def]
    ask([question()])
    [path] = (folder / "answers").iterdir()
    path.write_bytes(damage(path.read_bytes()))

    assert ask([question()])[1] == 1


def test_a_file_of_another_name_is_not_used(folder: Path) -> None:
    ask([question()])
    [path] = (folder / "answers").iterdir()
    other = question(max_states=999_999)
    path.rename(path.with_name(f"{name_of(other)}.json"))

    assert ask([other])[1] == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer(stopped_by=INTERRUPTED),
        Answer(stopped_by="memory"),
        Answer(raised_in=(1,), complete=True),
        Answer(trouble=Trouble("failed", "out of memory"), complete=True),
        Answer(is_ours=False, complete=True),
        Answer(complete=True, verdicts=(("sane", Verdict.INCOMPLETE.value, None),)),
    ],
    ids=["interrupted", "memory", "raised", "trouble", "of another program", "not judged"],
)
def test_what_another_run_might_answer_otherwise_is_not_kept(answer: Answer, folder: Path) -> None:
    keep("lacking", question(), answer)

    assert not (folder / "answers").exists()


def test_an_answer_that_another_run_would_repeat_is_kept(folder: Path) -> None:
    keep("whole", question(), Answer(complete=True))
    keep("cut", question(), Answer(stopped_by="max-states 5"))

    assert sorted(file.name for file in (folder / "answers").iterdir()) == [
        "cut.json",
        "whole.json",
    ]
