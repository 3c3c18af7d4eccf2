"""Every command that a document shows prints what is shown, or does what is said of it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest

from tests.test_readme import (
    CLAIMED,
    ROOT,
    RUNS,
    Run,
    assert_as_claimed,
    assert_pasted,
    offenders,
    options_in_help,
    options_named,
    run,
)

__all__ = ["run"]

PROGRAMS = (
    "lab.classes",
    "lab.conform",
    "lab.documents.configurations",
    "lab.fuzz",
    "lab.fuzz.mutation",
    "lab.bench.covers",
    "lab.bench.first_verdict",
    "lab.experiments.pauses",
    "lab.bench.peers_speed",
    "lab.experiments.refusals",
    "lab.bench.scale",
    "lab.bench.tla",
    "lab.bench.upstream",
    "lab.survey",
)


def output_of(command: str) -> str:
    """What the command prints on a pipe of 80 columns, whatever its exit code."""
    name, *arguments = shlex.split(command)
    function = {"check": "check_main", "waterline": "main"}[name]
    start = f"from waterline.checker.cli.cli import {function}; {function}()"
    return subprocess.run(
        [sys.executable, "-c", start, *arguments],
        env=os.environ | {"COLUMNS": "80"},
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    ).stdout


def help_of(program: str) -> str:
    """What a program of ours that is no command says of its options."""
    return subprocess.run(
        [sys.executable, "-m", program, "--help"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout


@pytest.mark.parametrize(("command", "shown"), RUNS, ids=[command for command, _ in RUNS])
def test_output_is_pasted_unedited(command: str, shown: str) -> None:
    assert_pasted(shown, output_of(command))


@pytest.mark.parametrize("command", CLAIMED)
def test_a_command_does_what_the_sentence_about_it_says(
    command: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_as_claimed(command, run, monkeypatch)


def test_every_option_named_is_in_the_help_of_a_command() -> None:
    printed = "".join(help_of(program) for program in PROGRAMS)
    known = options_in_help() | set(re.findall(r"--[a-z][a-z-]*[a-z]", printed))

    assert offenders(lambda path: options_named(path) - known) == {}
