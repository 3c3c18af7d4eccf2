"""A whole grid is compiled once, and threads change nothing."""

from __future__ import annotations

from tests.kafka.matrix.test_matrix import assert_compiled_once
from tests.support.grids import SMALL, explored, small_matrix, without_engine
from waterline.checker.kafka.matrix.files import to_object
from waterline.checker.search.engines.choice import EngineChoice


def test_the_whole_grid_is_compiled_once() -> None:
    assert_compiled_once(list(SMALL.cells()))


def test_threads_change_nothing() -> None:
    alone = explored(SMALL, EngineChoice(name="local", threads=1))

    assert without_engine(to_object(alone)) == without_engine(to_object(small_matrix()))
