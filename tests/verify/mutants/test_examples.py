"""No mutant of an example stays unnoticed without a reason, in the file beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.own import EXAMPLES

EXPLAINED = (
    "alternating_bit",
    "circuit_breaker",
    "die_hard",
    "fenced_lease",
    "peterson",
    "philosophers",
    "token_ring",
    "two_phase_commit",
)
LEFT = {"abd_register", "chain_replication", "kraft_log", "raft"}
"""Examples whose survivors have no reasons yet. Mutants of the largest take minutes."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(capsys, monkeypatch)


@pytest.mark.parametrize("name", EXPLAINED)
def test_no_mutant_survives_without_a_reason_that_is_needed(run: Commands, name: str) -> None:
    code, out, err = run(
        "mutate",
        EXAMPLES / f"{name}.py",
        "--jobs",
        "1",
        "--format",
        "json",
        name="waterline",
    )
    found = json.loads(out)
    open_fates = ("survives", "other steps", "grows")

    assert (code, found["unexplained"]) == (0, 0), err
    assert all(
        each["fate"] in open_fates for each in found["mutants"] if each["accepted"] is not None
    )


def test_every_example_is_named() -> None:
    names = {path.stem for path in Path(EXAMPLES).glob("*.py")}

    assert names == {*EXPLAINED, *LEFT}
