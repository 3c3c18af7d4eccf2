"""Answers that an earlier run kept: used where they are those of today, and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from waterline.checker.kafka.matrix import kept_cells
from waterline.checker.kafka.matrix.answering import Answer, Question, problem_of, question_of
from waterline.checker.kafka.matrix.grid import Grid, grid_over
from waterline.checker.kafka.matrix.kept_cells import keep, keeping, name_of
from waterline.checker.kafka.matrix.running import (
    Explorer,
    Watch,
    exploring,
    ignore_progress,
    unfound,
)
from waterline.checker.search.engines.choice import EngineChoice
from waterline.checker.search.result import INTERRUPTED, Verdict


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that has machine code of other runs, and no answer."""
    monkeypatch.setattr(kept_cells, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(kept_cells, "STATES_MIN", 10)
    return tmp_path


def grid(fault: str = "two crashes", version: str = "hw") -> Grid:
    return grid_over([], [("version", version), ("faults", fault)], records=1, epochs=2)


def question(**changed: object) -> Question:
    [cell] = grid().cells()
    return replace(question_of(cell, grid()), **changed)  # type: ignore[arg-type]


def ask(questions: Sequence[Question]) -> tuple[list[Answer], int]:
    """The answers, and how many questions were explored for them."""
    explored = 0
    with exploring(EngineChoice(name="local")) as explorer:

        def counting(asked: Sequence[Question], watch: Watch) -> list[Answer]:
            nonlocal explored
            explored += len(asked)
            return explorer(asked, watch)

        keeps: Explorer = keeping(counting, unfound)
        return keeps(questions, ignore_progress), explored


def test_a_second_run_explores_nothing_and_answers_the_same(folder: Path) -> None:
    """The claim breaks, so that a path is kept as well."""
    first, explored = ask([question()])
    again, explored_again = ask([question()])

    assert (explored, explored_again) == (1, 0)
    assert again == first
    assert first[0].paths
    assert len(list((folder / "answers").iterdir())) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"max_states": 999_999},
        {"stop_at_first": True},
        {"enough": ("acknowledged_durable",)},
        {"invariants": tuple(reversed(question().invariants))},
        {"spec": question_of(next(grid("one crash").cells()), grid()).spec},
        {"spec": question_of(next(grid(version="epoch").cells()), grid()).spec},
    ],
    ids=["budget", "stop", "enough", "claims", "fault", "version"],
)
def test_another_question_has_another_answer(changed: dict[str, object]) -> None:
    asked, other = question(), question(**changed)

    assert name_of(asked, problem_of(asked)) != name_of(other, problem_of(other))


def test_another_program_does_not_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ask([question()])
    monkeypatch.setattr(kept_cells, "program_digest", lambda: "edited")

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
    path.rename(path.with_name(f"cell-{name_of(other, problem_of(other))}.json"))

    assert ask([other])[1] == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer(stopped_by=INTERRUPTED, distinct=500),
        Answer(stopped_by="memory", distinct=500),
        Answer(raised_in=(1,), distinct=500, complete=True),
        Answer(complete=True, distinct=500, verdicts=(("sane", Verdict.INCOMPLETE.value, None),)),
    ],
    ids=["interrupted", "memory", "raised", "not judged"],
)
def test_what_another_run_might_answer_otherwise_is_not_kept(answer: Answer, folder: Path) -> None:
    asked = question()
    keep(name_of(asked, problem_of(asked)), answer, problem_of(asked))

    assert not (folder / "answers").exists()
