"""Nothing is answered from what was kept of other rules: see `lab.fuzz.stale_keys`, which has more.

Some shapes of a rule are tried here, all in tests/verify.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.fuzz import stale_keys
from lab.fuzz.stale_keys import SHAPES, Case, attacked
from tests.support.own import own_problem
from tests.support.sampling import drawn
from waterline.checker.compiler import sources
from waterline.checker.compiler.problem_digest import question_digest
from waterline.checker.mutants.judging import explore_original, judge_all
from waterline.checker.mutants.mutants import mutants_of
from waterline.checker.user_models.family import built_of


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache, sources that nobody edits, and modules that are read whenever imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WATERLINE_CACHE", str(tmp_path_factory.mktemp("kept") / "cache"))
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        patch.setenv("STALE_KEYS_MAX", "0")
        patch.setattr(sources, "SETTLED_SECONDS", float("-inf"))
        patch.setattr(sys, "dont_write_bytecode", True)
        yield


@pytest.mark.parametrize("shape", drawn(SHAPES, 8))
def test_a_value_that_changed_is_answered_anew_or_refused(shape: str, tmp_path: Path) -> None:
    assert_answered_anew(shape, tmp_path)


def assert_answered_anew(shape: str, folder: Path) -> None:
    """No answer is of before a value of this shape changed."""
    found = attacked(Case(shape, "guard"), folder, (3, 6), "value")

    assert found.wrong == []


NAMED = '''\
"""Nodes, of which one comes last."""

from waterline import Name, Names, Protocol
import declaring


def last(nodes: int = 3) -> Protocol:
    node = Names("node", nodes)
    fields = [declaring.field(node), Name("first", node)]
    return Protocol(fields=fields, actions=[come], always=[fine])


def come(s, node):
    s.last = node


def fine(s):
    return s.last >= 0
'''


def test_what_a_module_declares_counts_also_where_it_only_says_what_is_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    model, declaring = tmp_path / "naming.py", tmp_path / "declaring.py"
    model.write_text(NAMED)
    digests = set()
    for field in ('waterline.Name("last", node)', 'waterline.Number("last", 0, 2)'):
        declaring.write_text(f"import waterline\n\n\ndef field(node):\n    return {field}\n")
        monkeypatch.delitem(sys.modules, "declaring", raising=False)
        stale_keys.forget()
        digests.add(question_digest(own_problem(model)))

    assert len(digests) == 2


def test_the_attack_sees_what_is_answered_from_a_key_that_lacks_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(stale_keys, "problem_digest", lambda problem: "always the same")
    monkeypatch.setattr(
        "waterline.checker.batch.keeping.reads_the_same", lambda problem, record: True
    )
    monkeypatch.setattr(
        "waterline.checker.compiler.text_key.found_again", lambda functions, record, exact: {}
    )
    found = attacked(Case("a module's name", "guard"), tmp_path, (3, 6), "value")

    assert [each.partition(":")[0] for each in found.wrong] == ["check", "gate", "resume"]


@pytest.mark.parametrize("value", [3, 4])
def test_a_mutant_is_explored_by_its_own_rules_and_by_those_of_no_other(
    value: int, tmp_path: Path
) -> None:
    """All have one file, one name and one line, and are asked in both orders with one cache."""
    file = Case("a name", "guard").write(tmp_path, value)
    problem = stale_keys.problem_in(file)
    mutants = mutants_of(built_of(problem)[0], "counting", {"most": 7})
    original = explore_original(problem, str(file), {})
    for order in (mutants, mutants[::-1]):
        judged = judge_all(order, original, processes=1)
        states = {m.change: found.states for m, found in zip(order, judged, strict=True)}

        assert states.pop("drop when(s.x < MAX)") == 6  # `low` is violated there
        assert states == {
            "s.x < MAX -> s.x <= MAX": value + 2,
            "s.x < MAX -> s.x >= MAX": 1,
            "drop s.x += 1": 1,
        }
