"""No mutant of an example stays unnoticed without a reason, in the file beside it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.live import lease_text
from tests.support.own import EXAMPLES

EXPLAINED: dict[str, tuple[str, ...]] = {
    "abd_register": ("--set=readers=1", "--only=guards"),
    "alternating_bit": (),
    "chain_replication": ("--only=guards",),
    "circuit_breaker": (),
    "die_hard": (),
    "fenced_lease": (),
    "kraft_log": ("--only=guards",),
    "peterson": (),
    "philosophers": (),
    "raft": ("--only=guards", "--set=entries=1"),
    "token_ring": (),
    "two_phase_commit": (),
}
"""Examples, and options with which their mutants are judged in a minute or two.

Those of abd_register, chain_replication, kraft_log and raft that are no guards take minutes:
docs/own-models.md has the commands.
"""
AT_NIGHT = ("kraft_log", "raft")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(capsys, monkeypatch)


def require_none_unexplained(run: Commands, file: Path, *options: str) -> None:
    """No mutant survives without a reason, and no reason is for one that is noticed."""
    code, out, err = run("mutate", file, *options, "--jobs=1", "--format=json", name="waterline")
    found = json.loads(out)
    open_fates = ("survives", "other steps", "grows")

    assert (code, found["unexplained"]) == (0, 0), err
    assert all(
        each["fate"] in open_fates for each in found["mutants"] if each["accepted"] is not None
    )


@pytest.mark.parametrize("name", EXPLAINED)
def test_no_mutant_survives_without_a_reason_that_is_needed(run: Commands, name: str) -> None:
    if name in AT_NIGHT and "NIGHTLY" not in os.environ:
        pytest.skip("two minutes each: make nightly has them")
    require_none_unexplained(run, EXAMPLES / f"{name}.py", *EXPLAINED[name])


@pytest.mark.parametrize("fenced", ["true", "false"])
def test_no_mutant_of_the_tutorial_survives(run: Commands, tmp_path: Path, fenced: str) -> None:
    file = tmp_path / "lease.py"
    file.write_text(lease_text())

    require_none_unexplained(run, file, f"--set=fenced={fenced}")


def test_every_example_is_named() -> None:
    names = {path.stem for path in Path(EXAMPLES).glob("*.py")}

    assert names == set(EXPLAINED)
