"""Cells at higher bounds, and without: what takes many states."""

from __future__ import annotations

from dataclasses import replace

from tests.kafka.matrix.test_deepening import LOCAL, OUT_OF_SYNC, only_cell, without_bounds
from tests.support.grids import cell_of, explored
from waterline.checker.kafka.matrix.grid import grid_over
from waterline.checker.kafka.matrix.outcome import Standing


def test_what_a_raised_cell_shows_is_no_excuse_for_its_neighbour() -> None:
    """Unclean elections excuse no loss that happens without them, at whatever bounds."""
    both = grid_over(["unclean.leader.election.enable"]).axis("unclean.leader.election.enable")
    axes = tuple(both if axis.name == both.name else axis for axis in OUT_OF_SYNC.axes)
    matrix = explored(replace(OUT_OF_SYNC, axes=axes, epochs_max=6), LOCAL)
    clean = cell_of(matrix, **{both.name: "false"})
    unclean = cell_of(matrix, **{both.name: "true"})

    assert clean.cell.environment.epochs == 6
    assert unclean.standing is Standing.VIOLATED
    assert unclean.worst is not None
    assert unclean.worst.depth_clean == 19


def test_a_trace_without_bounds_says_which_bounds_break_a_cell() -> None:
    bounded = only_cell(replace(without_bounds("epoch", "leader moves"), tries_unbounded=False))
    outcome = only_cell(without_bounds("epoch", "leader moves"))

    assert (bounded.label, bounded.cell.environment.records) == ("holds", 2)
    assert (outcome.label, outcome.cell.environment.records) == ("diverges 12", 3)
    assert outcome.replayed is not None
