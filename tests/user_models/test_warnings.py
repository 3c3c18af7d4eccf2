"""What is allowed in a model and seldom meant is said on a line, and changes no exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.user_models.test_mistakes import RIGHT

CHECK = ("--model", "lock.py", "--engine", "local")
WARNINGS = {
    "a number for a sort": (
        "by=client)",
        "by=clients)",
        "lock.py:8: by=clients is by numbers, 0 and so on, and traces show these; "
        "by=client is by the names of the sort client",
    ),
    "an action that returns True": (
        "    s.taken += 1",
        "    s.taken += 1\n    return True",
        "lock.py:25: take is an action and says `return True`: nobody reads that; "
        "write return alone",
    ),
    "a docstring that names nobody": (
        "def take(s, client):",
        'def take(s, client):\n    """{who} takes the lock."""',
        "lock.py:20: the docstring of take names {who}, which is no argument; name {client}",
    ),
}


@pytest.mark.parametrize(("right", "wrong", "says"), WARNINGS.values(), ids=WARNINGS)
def test_it_is_a_line_and_the_verdicts_stay(
    right: str, wrong: str, says: str, cli: Commands
) -> None:
    Path("lock.py").write_text(RIGHT.replace(right, wrong, 1))
    code, out, err = cli(*CHECK)
    values = json.loads(cli(*CHECK, "--format", "json")[1])

    assert code == 0
    assert "HOLDS one_works" in out
    assert f"warning: {says}" in err.splitlines()
    assert err.count("warning:") == 1
    assert values["warnings"] == [says]


def test_what_is_right_has_no_warning(cli: Commands) -> None:
    Path("lock.py").write_text(RIGHT)
    _, out, err = cli(*CHECK, "--format", "json")

    assert "warning" not in err
    assert "warnings" not in json.loads(out)


def test_a_warning_does_not_hide_a_violation(cli: Commands) -> None:
    wrong = RIGHT.replace("    when(s.holder is None)\n", "")
    Path("lock.py").write_text(
        wrong.replace("    s.taken += 1", "    s.taken += 1\n    return True")
    )
    code, _, err = cli(*CHECK)

    assert code == 12
    assert "warning: " in err
