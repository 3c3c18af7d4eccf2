"""A whole grid is compiled once, and threads change nothing."""

from __future__ import annotations

from tests.kafka.matrix.test_matrix import assert_compiled_once
from tests.support.grids import (
    SMALL,
    TINY,
    explored,
    small_matrix,
    without_engine,
)
from waterline.checker.kafka.matrix.files import to_object
from waterline.checker.kafka.matrix.outcome import emptiness
from waterline.checker.search.engines.engine import EngineChoice
from waterline.model.message.environment import Environment


def test_the_whole_grid_is_compiled_once() -> None:
    assert_compiled_once(list(SMALL.cells()))


def test_threads_change_nothing() -> None:
    alone = explored(SMALL, EngineChoice(name="local", threads=1))

    assert without_engine(to_object(alone)) == without_engine(to_object(small_matrix()))


def test_that_nothing_acknowledged_is_lost_says_little_where_nothing_is_acknowledged() -> None:
    outcomes = explored(TINY, EngineChoice(name="local")).outcomes
    labels = {o.cell.coordinates["acks"]: o.label for o in outcomes if o.cell.version == "epoch"}

    assert labels["0"] == "holds* e1"
    assert labels["all"] == "holds e1"
    assert "no record is ever committed" in (emptiness(Environment(), ("record_commits",)) or "")
