"""Nothing is answered from what was kept of other rules: see `fuzz.stale_keys`, which has more."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz import stale_keys
from fuzz.stale_keys import SHAPES, Case, attacked, cases
from tests.support.own import own_problem
from waterline.checker.compiler import sources
from waterline.checker.compiler.problem_digest import question_digest

CASES = 60
MODEL = '''\
"""A counter."""

from waterline import Number, Protocol, when
import conf.limits


def counting() -> Protocol:
    return Protocol(fields=[Number("x", 0, 7)], actions=[up], always=[low])


def up(s):
    when(s.x < conf.limits.C.MAX)
    s.x += 1


def low(s):
    return s.x < 5
'''
GATE = """\
[[expect]]
name = "low"
model = "counting.py"
engine = "local"
verdicts = { low = "holds" }
"""


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


@pytest.mark.parametrize("shape", SHAPES)
def test_a_value_that_changed_is_answered_anew_or_refused(shape: str, tmp_path: Path) -> None:
    found = attacked(Case(shape, "guard"), tmp_path, (3, 6), "value")

    assert found.wrong == []


def test_random_models_get_no_answer_of_before(tmp_path: Path) -> None:
    gates: Counter[str] = Counter()
    wrong = []
    for number, (case, values, change) in enumerate(itertools.islice(cases(3), CASES)):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        found = attacked(case, folder, values, change)
        gates[found.gate] += 1
        wrong += [(case, change, each) for each in found.wrong]

    assert wrong == []
    assert gates["kept"] >= CASES / 12
    assert gates["searched"] >= CASES / 3


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
        "waterline.checker.ci.kept_answers.reads_the_same", lambda problem, record: True
    )
    monkeypatch.setattr(
        "waterline.checker.compiler.text_key.found_again", lambda functions, record, exact: {}
    )
    found = attacked(Case("a module's name", "guard"), tmp_path, (3, 6), "value")

    assert [each.partition(":")[0] for each in found.wrong] == ["check", "gate", "resume"]


def told(folder: Path, *arguments: object) -> tuple[int, str]:
    """Exit code and errors of a process of its own."""
    command = (
        "import sys; from waterline.checker.cli.cli import main; sys.argv[0] = 'waterline'; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", command, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


def test_other_processes_are_told_the_truth_by_a_search_a_gate_and_a_run(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "__init__.py").write_text("")
    limits = tmp_path / "conf" / "limits.py"
    limits.write_text("class C:\n    MAX = 3\n")
    (tmp_path / "counting.py").write_text(MODEL)
    (tmp_path / "gate.toml").write_text(GATE)
    check = ("check", "--model", "counting.py", "--engine", "local")
    asked = (
        check,
        ("gate", "gate.toml", "--allow-models"),
        (*check, "--run-dir", "kept", "--max-depth", 1),
    )
    before = [told(tmp_path, *each)[0] for each in asked]
    limits.write_text("class C:\n    MAX = 6\n")
    after = [told(tmp_path, *each)[0] for each in asked[:2]]
    code, err = told(tmp_path, *check, "--resume", "kept")

    assert before == [0, 0, 20]
    assert after == [12, 3]
    assert (code, "was begun with other rules" in err) == (2, True)
