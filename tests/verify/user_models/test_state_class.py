"""The long cases of tests/user_models/test_state_class.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support.own import EXAMPLES
from tests.user_models.test_state_class import CLASS


def test_a_type_checker_finds_misspelt_fields_and_wrong_values(tmp_path: Path) -> None:
    wrong = {
        "s.holder = client": "s.holde = client",
        "s.taken += 1": 's.taken = "one"',
        "s.seen.append(s.taken)": "s.seen.append(s.holder)",
        "s.waiting |= {client}": "s.waiting.add(s.state[client])",
    }
    text = CLASS
    for right, mistaken in wrong.items():
        text = text.replace(right, mistaken)
    (tmp_path / "right.py").write_text(CLASS)
    (tmp_path / "wrong.py").write_text(text)
    lines = {text[: text.index(mistaken)].count("\n") + 1 for mistaken in wrong.values()}
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", tmp_path / "right.py", tmp_path / "wrong.py"],
        cwd=EXAMPLES.parent,
        env=os.environ | {"MYPYPATH": str(EXAMPLES.parent)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    found = re.findall(r"wrong\.py:(\d+): error: ", ran.stdout)

    assert 'has no attribute "holde"; maybe "holder"?' in ran.stdout
    assert "right.py" not in ran.stdout
    assert {int(line) for line in found} == lines
