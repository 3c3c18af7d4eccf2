"""`check --reduce` says what it left out, and refuses what needs every state."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from checker.cli.check.command import check_command

CHECK = ["--protocol", "hw", "--engine", "local", "--threads", "1", "--epochs", "1"]


def test_counts_of_a_reduced_model_are_told_as_such() -> None:
    told = CliRunner().invoke(check_command, [*CHECK, "--reduce"]).output

    assert "Reduced          checkpoint is decided when it is read" in told
    assert "taken at once: RecvFetch,\n" in told
    assert "of the reduced model\n" in told
    assert "Never enabled: SendFetch" not in told


def test_json_has_the_reduction_only_where_there_is_one() -> None:
    less = CliRunner().invoke(check_command, [*CHECK, "--reduce", "--format", "json"]).stdout
    full = CliRunner().invoke(check_command, [*CHECK, "--format", "json"]).stdout

    assert json.loads(less)["reduction"]["postponed"] == ["checkpoint"]
    assert "reduction" not in json.loads(full)


@pytest.mark.parametrize("option", ["--deadlock", "--explain"])
def test_what_needs_all_states_is_refused_in_one_line(option: str) -> None:
    done = CliRunner().invoke(check_command, [*CHECK, "--reduce", option])

    assert str(done.exception or done.output).count(
        f"--reduce leaves out states that {option} needs; give one"
    )
