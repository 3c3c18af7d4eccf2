"""The last stop of the tour, which has two million states, comes out as expected."""

from __future__ import annotations

from tests.cli.test_tour import assert_comes_out
from waterline.checker.cli.tour import stops


def test_the_large_stop_comes_out_as_expected() -> None:
    *_, last = stops()

    assert_comes_out(last)
