"""Entries of a gate that demand that a claim notices each mutant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Commands

MODEL = '''
"""A counter that stops."""

from waterline import Fields, Flag, Number, Protocol, when


class State(Fields):
    most: int = 2
    count = Number(0, most + 1)
    stopped = Flag()


def counter(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[up, stop], always=[low], sometimes=[ends])


def up(s: State) -> None:
    """It goes up."""
    when(s.count < s.most and not s.stopped)
    s.count += 1


def stop(s: State) -> None:
    """It stops."""
    when(not s.stopped)
    s.stopped = True


def low(s: State) -> bool:
    """It is no more than the most."""
    return s.count <= s.most


def ends(s: State) -> bool:
    """It stops at the most."""
    return s.stopped and s.count == s.most
'''
ENTRY = """
[[expect]]
name = "it counts"
model = "counter.py"
engine = "local"
mutants = "KIND"
verdicts = { low = "holds" }
"""
SURVIVES = "no claim notices line 19, drop not s.stopped of `and`: other steps"
ACCEPTED = """
[up]
"drop not s.stopped of `and`" = "to count on after the end does no harm"
"not s.stopped -> s.stopped" = "nor does it to begin there"
"""


@pytest.fixture
def gate(cli: Commands, tmp_path: Path) -> Commands:
    (tmp_path / "counter.py").write_text(MODEL)
    return cli


def judged(cli: Commands, folder: Path, kind: str = "guards") -> tuple[int, str]:
    (folder / "gate.toml").write_text(ENTRY.replace("KIND", kind))
    code, out, err = cli("gate", folder / "gate.toml", "--allow-models", name="waterline")
    return code, " ".join(f"{out} {err}".split())


def test_a_mutant_that_no_claim_notices_fails_the_gate_until_it_has_a_reason(
    gate: Commands, tmp_path: Path
) -> None:
    code, said = judged(gate, tmp_path)
    assert code == 3
    assert SURVIVES in said

    (tmp_path / "counter.mutants.toml").write_text(ACCEPTED)
    code, said = judged(gate, tmp_path)
    assert code == 0, said

    (tmp_path / "counter.mutants.toml").write_text(ACCEPTED.replace("drop not", "drop"))
    code, said = judged(gate, tmp_path)
    assert code == 3
    assert "is no mutant of the model" in said


def test_a_kind_that_there_is_not_is_refused(gate: Commands, tmp_path: Path) -> None:
    code, said = judged(gate, tmp_path, "rules")

    assert code == 2
    assert "mutants is 'rules'; it is one of guards, conditions, effects, all" in said
