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
    "a return for a when": (
        "    when(s.holder == client)",
        "    if s.holder != client:\n        return",
        "lock.py:28: where s.holder != client, give_back is a step that changes nothing; "
        "write when(not (s.holder != client)) for one that does not happen",
    ),
    "an action that no list has": (
        "def take(s, client):",
        "def forgotten(s, client):\n    s.taken = 0\n\n\ndef take(s, client):",
        "lock.py:19: forgotten is an action that no list has, so it never happens; "
        "write actions=[..., forgotten], or take it out",
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


def test_a_bound_that_nothing_reads_is_named(cli: Commands) -> None:
    Path("lock.py").write_text(
        "from waterline import Fields, Number, Protocol\n\n\nclass State(Fields):\n"
        "    most: int = 3\n    big: bool = True\n    n = Number(0, 1)\n\n\n"
        "def lock(state: type[State]) -> Protocol:\n"
        "    return Protocol(state=state, actions=[go])\n\n\n"
        "def go(s: State) -> None:\n    s.n = s.big\n"
    )
    _, _, err = cli(*CHECK)

    [warning] = [line for line in err.splitlines() if "warning: " in line]
    assert warning.startswith("warning: lock.py:5: nothing reads the bound most")
