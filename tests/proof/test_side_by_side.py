"""Threads that answer queries: in order, and none goes on when their block has ended."""

from __future__ import annotations

import gc
import os
import signal
import threading
from itertools import combinations
from typing import Any

import pytest

pytest.importorskip("z3")

import z3

from waterline.checker.proof.obligations import Query
from waterline.checker.proof.side_by_side import Solvers
from waterline.checker.proof.solver import Attempt, Outcome, ask


def query(number: int) -> Query:
    return Query(str(number), ())


def answer(asked: Query, running: set[Any]) -> Attempt:
    return Attempt(Outcome.PROVED, 1, int(asked.text))


@pytest.mark.parametrize("threads", [1, 3])
def test_answers_are_in_the_order_of_queries_with_those_that_come_later(threads: int) -> None:
    found = []
    with Solvers[str](threads) as solvers:
        for item, attempt in solvers.ahead((f"{n}", (query(n), answer)) for n in range(40)):
            found.append((item, attempt.steps))
            if item == "7":
                solvers.give("once more", (query(0), answer))

    first = [(f"{n}", n) for n in range(40)]
    assert found == [*first, ("once more", 0)]


def test_no_other_thread_collects_cycles() -> None:
    with Solvers[int](1):
        assert not gc.isenabled()

    assert gc.isenabled()


def test_what_runs_is_interrupted_and_what_waits_is_left() -> None:
    asked = []

    class Solver:
        def __init__(self) -> None:
            self.ended = threading.Event()

        def interrupt(self) -> None:
            self.ended.set()

    def work(asking: Query, running: set[Any]) -> Attempt:
        asked.append((asking.text, solver := Solver()))
        running.add(solver)
        begun.set()
        solver.ended.wait(60)
        return Attempt(Outcome.UNDECIDED, 1, 0)

    begun = threading.Event()
    with Solvers[int](1) as solvers:
        for n in range(3):
            solvers.give(n, (query(n), work))
        begun.wait(60)

    [(text, solver)] = asked
    assert text == "0"
    assert solver.ended.is_set()


def test_ctrl_c_ends_a_proof_within_a_query() -> None:
    """Z3 takes the signal for itself unless it is forbidden, and the proof would go on."""
    holes = range(11)
    sits = [[z3.Bool(f"sits_{p}_{hole}") for hole in holes] for p in range(12)]
    hard = z3.Solver()
    hard.add(*(z3.Or(each) for each in sits))
    pairs = combinations(sits, 2)
    hard.add(*(z3.Not(z3.And(a[hole], b[hole])) for a, b in pairs for hole in holes))

    def prove() -> None:
        with Solvers[int](1) as solvers:
            threading.Thread(target=press_in, args=[solvers]).start()
            list(solvers.ahead([(0, (Query(hard.to_smt2(), ()), ask))]))

    # A shell that starts tests in the background has them ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            prove()
    finally:
        signal.signal(signal.SIGINT, before)


def press_in(solvers: Solvers[int]) -> None:
    while not solvers._running:
        pass
    os.kill(os.getpid(), signal.SIGINT)
