"""Raft and KRaft's log come to what Murphi models of the same protocols come to.

States, transitions and depths are those on which `python -m lab.bench.own_peers` finds both to
agree.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import pytest

from tests.support.own import example
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Result
from waterline.checker.search.search import search


@dataclass(frozen=True)
class Row:
    """What is found within bounds; the others are the example's own.

    `first`: in which step a claim breaks, or something happens that the peer has too. What is not
    there holds, or never happens.
    """

    name: str
    bounds: dict[str, int]
    states: int
    transitions: int
    depth: int
    first: dict[str, int]


RAFT = {"commits": 6, "commits_in_two_terms": 11, "cuts_its_log": 9}
KRAFT = {"commits": 6, "commits_in_two_epochs": 11, "truncates": 8}
COMPARED = RAFT.keys() | KRAFT.keys()
ROWS = [
    Row("raft", {}, 50_733, 321_063, 20, RAFT),
    Row("raft", {"terms": 1}, 2_169, 10_431, 13, {"commits": 6}),
    Row("raft", {"servers": 1}, 30, 53, 8, {"commits": 4, "commits_in_two_terms": 8}),
    Row("raft", {"servers": 2}, 545, 1_824, 14, {"commits": 6, "commits_in_two_terms": 11}),
    Row(
        "raft",
        {"voters_compare_logs": False},
        76_845,
        485_550,
        21,
        RAFT | {"committed_entries_agree": 12, "leaders_have_what_is_committed": 9},
    ),
    Row(
        "raft",
        {"terms": 4, "entries": 1, "commits_own_term_only": False},
        193_314,
        1_571_064,
        26,
        {
            "commits": 6,
            "cuts_its_log": 9,
            "committed_entries_agree": 22,
            "leaders_have_what_is_committed": 19,
        },
    ),
    Row("kraft_log", {}, 45_896, 321_327, 18, KRAFT),
    Row("kraft_log", {"epochs": 1}, 3_926, 23_757, 15, {"commits": 6}),
    Row("kraft_log", {"voters": 1}, 15, 24, 6, {"commits": 2, "commits_in_two_epochs": 5}),
    Row("kraft_log", {"voters": 2}, 383, 1_374, 12, {"commits": 6, "commits_in_two_epochs": 11}),
    Row(
        "kraft_log",
        {"voters_compare_logs": False},
        93_107,
        616_560,
        23,
        KRAFT
        | {
            "committed_records_agree": 11,
            "leaders_have_what_is_committed": 9,
            "nothing_committed_is_truncated": 11,
        },
    ),
    Row(
        "kraft_log",
        {"epochs": 4, "waits_for_own_epoch": False},
        929_156,
        7_529_508,
        27,
        KRAFT
        | {
            "committed_records_agree": 21,
            "leaders_have_what_is_committed": 17,
            "nothing_committed_is_truncated": 20,
        },
    ),
]


def searched(row: Row) -> Result:
    problem = example(row.name, "none", **row.bounds)
    with closing(MemoryEngine(problem, threads=1)) as engine:
        return search(problem, engine)


def told(row: Row) -> str:
    return "-".join([row.name, *(f"{name}={value}" for name, value in row.bounds.items())])


@pytest.mark.parametrize("row", [row for row in ROWS if 200 < row.states < 3_000], ids=told)
def test_both_models_come_to_the_same(row: Row) -> None:
    assert_found(row)


def assert_found(row: Row) -> None:
    """Counts, depths, and where claims break."""
    result = searched(row)
    first = {claim.name: claim.depth for claim in result.invariants if claim.depth is not None}
    first |= {
        claim.name: claim.depth
        for claim in result.reachable
        if claim.depth is not None and claim.name in COMPARED
    }

    assert result.complete
    assert (result.distinct, result.generated - 1, result.depth) == (
        row.states,
        row.transitions,
        row.depth,
    )
    assert first == row.first
