"""Kafka's protocol as a module: what is in it, and how it reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.bench.tla_settings import kafka_problem
from tests.support.commands import Commands
from tests.support.tla_modules import definition
from waterline.checker.compiler.source import source_of
from waterline.checker.problem.problem import Problem
from waterline.checker.tla.kafka.module import export, paragraphs
from waterline.checker.tla.kafka.vocabulary import FLAGS, WORDS
from waterline.checker.tla.module import Module
from waterline.model.core.errors import BadEnvironment
from waterline.model.message import terms

ELR = "--protocol elr --records 1 --restarts 1 --power-losses 1"


@pytest.fixture(scope="module")
def hw() -> Module:
    """The first version, in the usual circumstances."""
    return export(kafka_problem("--protocol hw"))


@pytest.fixture(scope="module")
def elr_problem() -> Problem:
    """The last version."""
    return kafka_problem(ELR)


@pytest.fixture(scope="module")
def elr(elr_problem: Problem) -> Module:
    """Its module."""
    return export(elr_problem)


def code(module: Module) -> str:
    """The module without its comments."""
    return "\n".join(line for line in module.text.splitlines() if line.strip()[:2] != "\\*")


@pytest.mark.parametrize("word", ["pending_isr", "cached_epoch", "stray_from", "elr_beside"])
def test_a_rule_that_the_version_has_not_is_nowhere(word: str, hw: Module) -> None:
    assert re.search(rf"\b{word}\b", code(hw)) is None


@pytest.mark.parametrize("word", ["elr", "pending_isr", "cached_epoch", "elr_beside"])
def test_a_rule_that_the_version_has_is_there(word: str, elr: Module) -> None:
    assert re.search(rf"\b{word}\b", code(elr)) is not None


def test_a_feature_that_is_switched_off_is_nowhere(elr: Module) -> None:
    without = export(kafka_problem(f"{ELR} --without unclean-mark-kept"))

    assert "\nMarkClean(" not in elr.text
    assert "\nMarkClean(" in without.text


def test_every_action_has_its_docstring(elr_problem: Problem, elr: Module) -> None:
    steps = r"^  \\/ .*?(\w+)(?:\([\w, ]*\))?$"
    actions = set(re.findall(steps, definition(elr, "Next"), re.MULTILINE))

    assert len(actions) > 12
    for action in elr_problem.model.enabled_actions:
        if action.name not in actions:
            continue
        said = "\n".join(paragraphs(source_of(action.effect).function.__doc__))
        assert said in elr.text, action.name


def test_settings_are_decided_and_bounds_are_constants(hw: Module) -> None:
    produce = definition(hw, "Produce")

    assert produce.splitlines()[1:4] == [
        '  /\\ cluster.role[leader] = "leader"',
        "  /\\ Cardinality(cluster.known_isr[leader]) >= min_insync_replicas",
        "  /\\ cluster.produced < records",
    ]
    assert "  restarts = 2" in hw.configuration
    assert "moves" not in hw.configuration


def test_the_text_does_not_depend_on_the_number_of_replicas(hw: Module) -> None:
    three = export(kafka_problem("--protocol hw --replicas 3 --records 3"))

    assert code(three) == code(hw)


def test_words_are_those_of_the_model() -> None:
    for names in WORDS.values():
        assert [getattr(terms, name) for name in names] == list(range(len(names)))
    fields = {field.name: field for field in kafka_problem(ELR).model.layout.fields}
    assert all((fields[name].lo, fields[name].hi) in ((0, 0), (0, 1)) for name in FLAGS)


def test_no_line_is_longer_than_a_screen(elr: Module) -> None:
    assert max(map(len, elr.text.splitlines())) <= 130


def test_a_state_without_bounds_is_refused() -> None:
    with pytest.raises(BadEnvironment, match="leave out --unbounded"):
        export(kafka_problem("--protocol hw --unbounded"))


def test_the_command_writes_a_release(tmp_path: Path, run: Commands) -> None:
    code_, _, _ = run(
        *("export", "--kafka", "0.11.0.0", "--to", "tla", "--out", tmp_path), name="waterline"
    )

    assert code_ == 0
    [module] = tmp_path.glob("*.tla")
    assert f"MODULE {module.stem} " in module.read_text()
