"""Nothing is answered from what was kept of other rules, of any shape, in any process."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from lab.fuzz.stale_keys import SHAPES, attacked, cases
from tests.user_models.test_stale_answers import assert_answered_anew, cache

__all__ = ["cache"]

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


@pytest.mark.parametrize("shape", SHAPES)
def test_a_value_that_changed_is_answered_anew_or_refused(shape: str, tmp_path: Path) -> None:
    assert_answered_anew(shape, tmp_path)


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
