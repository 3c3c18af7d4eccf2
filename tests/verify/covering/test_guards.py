"""The long case of tests/covering/test_guards.py."""

from __future__ import annotations

from tests.covering.test_guards import assert_few_steps


def test_few_steps_take_every_action_and_need_every_guard() -> None:
    assert_few_steps("peterson", paths=3, steps=9)
