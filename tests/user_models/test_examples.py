"""The examples come to the counts that others have published, or found on a text of their own."""

from __future__ import annotations

import itertools
import pickle
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.own import EXAMPLES, example, own_problem
from waterline.checker.checking.run import run
from waterline.checker.problem.packed_rows import state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Result, Verdict
from waterline.checker.search.search import search
from waterline.model.core.state import State

COUNTS: list[tuple[str, dict[str, int], int]] = [
    # Stateright, examples/2pc.rs.
    ("two_phase_commit", {"rms": 3}, 288),
    ("two_phase_commit", {"rms": 5}, 8_832),
    # TLA+ Examples, specifications/DieHard: TLC.
    ("die_hard", {}, 16),
    # Searches in plain Python that somebody else wrote, from the papers.
    ("chain_replication", {}, 455),
    ("abd_register", {}, 125_976),
    # A search in plain Python over tuples, of the same rules.
    ("circuit_breaker", {}, 18),
    # Raft and KRaft's log: test_raft_and_kraft.py. The fenced lease: test_epochs.py.
]
#: Verdicts of these, and how they were come by: test_lively_examples.py.
LIVELY = {"alternating_bit", "peterson", "philosophers", "token_ring"}
#: Bounds that the interpreted model gets through in a second.
RAFT, KRAFT = {"terms": 1, "entries": 1}, {"epochs": 1, "records": 1}


def searched(problem: Problem) -> Result:
    with closing(MemoryEngine(problem, threads=1)) as engine:
        return search(problem, engine)


def reachable(problem: Problem) -> set[State]:
    """Every state, by the interpreted model alone."""
    seen = set(problem.model.initial)
    frontier = list(seen)
    while frontier:
        arrived = {step.after for state in frontier for step in problem.model.successors(state)}
        frontier = list(arrived - seen)
        seen |= arrived
    return seen


@pytest.mark.parametrize(("name", "bounds", "states"), COUNTS, ids=map(str, range(len(COUNTS))))
def test_as_many_states_are_reached_as_were_published(
    name: str, bounds: dict[str, int], states: int
) -> None:
    result = searched(example(name, **bounds))

    assert result.complete
    assert result.distinct == states
    assert all(claim.depth is not None for claim in result.reachable)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_every_example_has_counts(path: Any) -> None:
    others = {"raft", "kraft_log", "fenced_lease", *LIVELY}

    assert path.stem in {*(name for name, _, _ in COUNTS), *others}


def test_the_jug_holds_four_gallons_after_six_steps() -> None:
    done = run(example("die_hard"), EngineChoice(name="local"))
    (finding,) = done.findings

    assert done.result.invariants[0].verdict is Verdict.VIOLATED
    assert [step.action for step in finding.replayed.trace.steps] == [
        "fill_big",
        "big_to_small",
        "empty_small",
        "big_to_small",
        "fill_big",
        "big_to_small",
    ]
    assert finding.replayed.states[-1].in_big == 4


def test_two_phase_commit_is_consistent_with_symmetry_too() -> None:
    result = searched(example("two_phase_commit", "rm", rms=5))

    assert result.complete
    assert {claim.verdict for claim in result.invariants} == {Verdict.HOLDS}


def test_symmetry_leaves_one_state_of_each_orbit() -> None:
    """Counted by exchanging the names of every state in every way."""
    orbits = {
        min(
            (
                tuple((s.rm_state[r], s.tm_prepared[r], s.prepared_sent[r]) for r in order),
                (s.tm_state, s.commit_sent, s.abort_sent),
            )
            for order in itertools.permutations(range(4))
        )
        for s in reachable(example("two_phase_commit", rms=4))
    }

    assert searched(example("two_phase_commit", "rm", rms=4)).distinct == len(orbits) == 166


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("two_phase_commit", {}),
        ("die_hard", {}),
        ("raft", RAFT),
        ("kraft_log", KRAFT),
    ],
    ids=str,
)
def test_compiled_and_interpreted_reach_the_same_states(name: str, bounds: dict[str, int]) -> None:
    problem = example(name, **bounds)
    with closing(MemoryEngine(problem, threads=1)) as engine:
        result = search(problem, engine)
        levels = range(len(result.levels))
        parts = [part for depth in levels for part in engine.over_level(depth, _rows)]
    compiled = {words for part in parts for words in part}

    assert compiled == {state.words for state in reachable(problem)}


def _rows(block: Any) -> list[tuple[int, ...]]:
    return [state_words(row) for row in block]


def test_another_process_makes_the_problem_of_the_text_without_file_or_screen(
    tmp_path: Path,
) -> None:
    """As an executor does, which has neither the file nor the libraries of the screen."""
    file = Path(shutil.copy(EXAMPLES / "two_phase_commit.py", tmp_path))
    problem = own_problem(file, "rm", rms=2)
    file.unlink()
    (tmp_path / "problem").write_bytes(pickle.dumps(problem))
    program = (
        "import pickle, sys\n"
        "sys.modules |= {'rich': None, 'click': None, 'networkx': None}\n"
        "problem = pickle.load(open('problem', 'rb'))\n"
        "print(problem.symmetry.value, dict(problem.model.options)['rms'], problem.checked)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.stdout == "rm 2 ('consistent', 'decision_is_sent', 'decides_once')\n", done.stderr
