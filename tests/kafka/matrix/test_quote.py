"""The sentence to be quoted: each of its clauses against the cells, and the words it never has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tests.support.commands import Commands
from tests.support.deployment_answers import FOLDER, answer_of, config_of, made_up
from waterline.checker.batch.question import unexplored_answer
from waterline.checker.kafka.matrix import quote
from waterline.checker.kafka.matrix.grid import FAULT, FAULTS, Cell, Size
from waterline.checker.kafka.matrix.matrix import ConfigAnswer
from waterline.checker.kafka.matrix.outcome import Outcome, Standing, judge
from waterline.checker.kafka.matrix.questions import question_of
from waterline.checker.kafka.matrix.quote import quotation
from waterline.checker.kafka.matrix.reason import loss_of
from waterline.checker.kafka.matrix.without_bounds import Unbounded

NAMES = [value.name for value in FAULTS if value.name != "none"]
NO_LOSS = "no acknowledged record is lost by "


def _clauses(text: str) -> list[str]:
    """The clauses between the settings and the bounds."""
    return text.partition(": ")[2].partition(". That is about")[0].split("; ")


def _phrases(outcome: Outcome) -> Iterator[str]:
    fault = outcome.fault
    yield quote._PHRASES[fault]
    if fault in quote._ANY_NUMBER:
        yield quote._ANY_NUMBER[fault]


def _assert_true(answer: ConfigAnswer) -> None:
    """Each fault is in one clause: "no loss" only if its cell was explored in full and holds."""
    clauses = [(c, set(re.split(" by |, or by ", c)[1:])) for c in _clauses(quotation(answer))]
    for outcome in answer.matrix.outcomes:
        mine = [text for text, phrases in clauses if phrases & set(_phrases(outcome))]
        assert len(mine) == 1, (outcome.cell.coordinates, clauses)
        is_safe = outcome.standing is Standing.HOLDS and outcome.emptiness is None
        says_safe = mine[0].startswith(NO_LOSS)
        assert says_safe is (is_safe and answer.config.acks != "0")
        assert ("can be lost" in mine[0]) is (loss_of(outcome) is not None)


def test_every_fault_has_words_that_no_other_has() -> None:
    assert set(quote._PHRASES) == {value.name for value in FAULTS}
    assert len(set(quote._PHRASES.values())) == len(FAULTS)
    assert set(quote._ANY_NUMBER) <= set(quote._PHRASES)


@pytest.mark.parametrize("broken", [set(), set(NAMES), {"power loss"}, {"zombie", "lost disk"}])
@pytest.mark.parametrize("name", ["combined-4.2.properties", "strimzi-zookeeper.yaml"])
def test_its_clauses_are_those_of_the_cells(name: str, broken: set[str]) -> None:
    config, _ = config_of(name)
    answer = made_up(config, lambda cell: cell.coordinates[FAULT] in broken)

    _assert_true(answer)
    _assert_true(_with_unexplored(answer, lambda cell: cell.coordinates[FAULT] != "one crash"))
    _assert_true(_with_unexplored(answer, lambda _: True))


def _with_unexplored(answer: ConfigAnswer, is_unknown: Callable[[Cell], bool]) -> ConfigAnswer:
    """The same, where these cells were not explored."""
    grid = answer.matrix.grid
    outcomes = [
        judge(grid, [o.cell], [unexplored_answer(question_of(o.cell, grid))])[0]
        if is_unknown(o.cell)
        else o
        for o in answer.matrix.outcomes
    ]
    matrix = replace(answer.matrix, outcomes=tuple(outcomes), interrupted=True)
    return replace(answer, matrix=matrix)


def test_nothing_is_called_safe_that_was_not_explored() -> None:
    config, _ = config_of("combined-4.2.properties")
    answer = _with_unexplored(made_up(config, lambda _: False), lambda _: True)

    assert "no acknowledged" not in quotation(answer)
    assert "it is not known which records are lost by" in quotation(answer)


def test_nothing_is_called_safe_in_another_size_or_with_acks_0() -> None:
    config, _ = config_of("combined-4.2.properties")
    larger = made_up(replace(config, yours=Size(5, 3)), lambda _: False)
    _assert_true(larger)

    assert "no acknowledged" not in quotation(larger)
    assert quotation(larger).startswith("With 5 replicas, acks=all, min.insync.replicas=3")
    unanswered = made_up(replace(config, acks="0"), lambda _: False)
    assert "no acknowledged" not in quotation(unanswered)


def test_any_number_is_said_only_where_the_search_had_no_bounds() -> None:
    config, _ = config_of("combined-4.2.properties")
    answer = made_up(config, lambda _: False)
    free = Unbounded(records=2, tried=2, answer=answer_of(None))
    outcomes = [
        replace(o, unbounded=free) if o.fault == "two crashes" else o
        for o in answer.matrix.outcomes
    ]
    found = replace(answer, matrix=replace(answer.matrix, outcomes=tuple(outcomes)))

    _assert_true(found)
    assert "any number" not in quotation(answer)
    assert quotation(found).count("any number of broker crashes") == 1
    assert "one broker crash" in quotation(found)
    assert "at most 2 records in a log at one time" in quotation(found)


def test_it_is_printed_alone_a_line_for_each_class(cli: Commands) -> None:
    path = str(FOLDER / "cluster.json")
    options = ["--quick", "--quote", "--config", path, "--only", "faults=one crash"]
    code, out, _ = cli("matrix", *options, name="waterline")
    lines = out.splitlines()

    assert code == 12
    assert len(lines) == 3
    assert all(quote.LINK in line and " no ELR: " in line for line in lines)


def test_planned_moves_with_acks_1_lose_what_was_acknowledged(cli: Commands) -> None:
    path = str(FOLDER / "orders-topic.txt")
    options = ["--kafka-version", "3.9:kraft", "--acks", "1", "--only", "faults=leader moves"]
    options += ["--quick", "--quote", "--replicas", "2", "--config", path]
    code, out, _ = cli("matrix", *options, name="waterline")

    assert code == 12
    assert "an acknowledged record can be lost by two planned moves of leadership" in out
