"""Followers that leave the ISR one after the other fetch for the last time one after the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from waterline.checker.kafka.confirm import replay
from waterline.checker.kafka.confirm.replay import part_followers
from waterline.counterexamples import Moment

PRODUCE = ("Produce", (("leader", 0),))
BEFORE = SimpleNamespace(
    leo=[3, 3, 3], known_epoch=[5, 5, 5], remote_leo={(0, 1): 3, (0, 2): 3, (0, 3): 2}
)


def shrink(follower: int, leader: int = 0) -> tuple[str, tuple[tuple[str, int], ...]]:
    return "ShrinkIsr", (("leader", leader), ("follower", follower))


def kept(monkeypatch: pytest.MonkeyPatch, *steps: Any) -> list[tuple[int, int, int, int]]:
    """The fetches that are repeated before the first of the steps."""
    monkeypatch.setattr(replay, "APART_SECONDS", 0.01)
    monkeypatch.setattr(replay, "_EVERY_SECONDS", 0.02)
    moments = [
        Moment(number, action, arguments, BEFORE, BEFORE)
        for number, (action, arguments) in enumerate(steps, start=1)
    ]
    found: list[tuple[int, int, int, int]] = []
    stage: Any = SimpleNamespace(repeat_fetch=lambda *given: found.append(given))
    part_followers(stage, moments[0], moments[1:])
    return found


def test_who_leaves_later_is_kept_while_the_first_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert kept(monkeypatch, PRODUCE, shrink(2), shrink(1)) == [(1, 0, 3, 5)]


def test_one_that_leaves_alone_needs_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(monkeypatch, PRODUCE, shrink(2)) == []
    assert kept(monkeypatch, PRODUCE, shrink(2), PRODUCE, shrink(1)) == []
    assert kept(monkeypatch, PRODUCE, shrink(2), shrink(1, leader=2)) == []


def test_one_that_has_not_caught_up_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(monkeypatch, PRODUCE, shrink(2), shrink(3)) == []


def test_nothing_is_repeated_before_another_step(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(monkeypatch, ("Checkpoint", (("replica", 0),)), shrink(2), shrink(1)) == []
