"""Every row of the manifest: numbers that another checker found on another text."""

from __future__ import annotations

import functools
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alike import alike

from checker.engines.memory import MemoryEngine
from checker.kafka.families import MESSAGE
from checker.problems.problem import Problem
from checker.result import Verdict
from checker.search import search

ROWS = json.loads((Path(__file__).parent / "manifest.json").read_text())["rows"]
FOUR = ("no_committed_loss", "acknowledged_durable", "no_divergence_below_hw", "consistent_read")
SIX = (*FOUR, "candidates_complete", "remote_leo_honest")
NINE = (*SIX, "log_matching", "log_matching_by_epoch", "no_endless_question")
#: By a row's `claims`: how many were compared.
COMPARED = {4: FOUR, 6: SIX, 9: NINE}


def name(row: dict[str, Any]) -> str:
    options = " ".join(f"{key}={value}" for key, value in row["options"].items())
    return f"{row['protocol']} {options or 'documented'}"


def problem_of(row: dict[str, Any]) -> Problem:
    return MESSAGE.problem_of(row["protocol"], {**MESSAGE.usual.options(), **row["options"]})


@functools.cache
def problems() -> dict[str, Problem]:
    return alike({name(row): problem_of(row) for row in ROWS})


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_counts_verdicts_and_depths_are_those_of_the_independent_model(row: dict[str, Any]) -> None:
    problem = problems()[name(row)]

    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine)

    found = {r.name: r for r in result.invariants}
    assert result.complete
    assert result.distinct == row["distinct"]
    assert result.generated == row["fired"] + 1
    assert result.depth == row["depth"]
    compared = COMPARED[row.get("claims", 4)]
    assert {n: found[n].depth for n in compared if found[n].depth is not None} == row["violated"]
    assert (found["sane"].verdict is Verdict.HOLDS) is row.get("sane", True)
