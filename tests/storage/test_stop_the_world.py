"""Standstills: chores are done while no thread works."""

from __future__ import annotations

import threading

import pytest

from waterline.checker.storage.arena import Standstill


def test_chores_are_done_while_nobody_works_and_all_wait_for_them() -> None:
    working, seen, chores_left = [0], [], [[1, 2, 3], []]
    lock = threading.Lock()

    def chore(number: int) -> None:
        seen.append((number, working[0]))

    hurried = []
    standstill = Standstill(
        lambda: [lambda n=n: chore(n) for n in chores_left.pop(0)], lambda: hurried.append(1)
    )

    def work(asks: bool) -> None:
        for turn in range(50):
            with standstill.working() as number:
                with lock:
                    working[0] += 1
                with lock:
                    working[0] -= 1
            if asks and turn == 10:
                standstill.ask(number)

    threads = [threading.Thread(target=work, args=(n == 0,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)

    assert not any(thread.is_alive() for thread in threads)
    assert sorted(seen) == [(1, 0), (2, 0), (3, 0)]
    assert chores_left == [[]]
    assert hurried == [1]


def test_what_was_short_before_a_standstill_asks_for_no_other() -> None:
    hurried: list[int] = []
    standstill = Standstill(list, lambda: hurried.append(1))
    with standstill.working() as number:
        pass
    standstill.ask(number)
    standstill.ask(number)
    with standstill.working() as after:
        pass
    standstill.ask(number)

    assert (number, after) == (0, 1)
    assert hurried == [1]


def test_a_chore_that_fails_ends_the_work_of_all() -> None:
    def fail() -> None:
        raise ValueError("no room")

    standstill = Standstill(lambda: [fail], lambda: None)
    standstill.ask(0)

    for _ in range(2):
        with pytest.raises(ValueError, match="no room"), standstill.working():
            pytest.fail("it worked")
