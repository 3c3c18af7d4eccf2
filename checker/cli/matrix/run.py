"""Execution of `matrix`: explores the grid, shows and writes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from waterline.checker.batch.in_memory import exploring
from waterline.checker.cli.matrix.asking import following, is_about_deployment, only_of, sizes_of
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.ending import ending_as_by_ctrl_c
from waterline.checker.cli.shared.file_options import write_files
from waterline.checker.cli.shared.options import EngineOptions, fill, require_engine
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.kafka.matrix.files import to_csv, to_text
from waterline.checker.kafka.matrix.grid import OVER, Grid, grid_over
from waterline.checker.kafka.matrix.matrix import Matrix, explore_grid
from waterline.checker.kafka.matrix.picture import to_svg
from waterline.checker.kafka.matrix.table import render_matrix


def answer_matrix(options: dict[str, Any]) -> int:
    """Explore what the options ask for, and show it; returns the exit code."""
    if is_about_deployment(options):
        # A grid needs none of what reads and reports about clusters.
        from waterline.checker.cli.matrix.deployment_run import answer_deployment  # noqa: PLC0415

        return answer_deployment(options)
    choice = fill(EngineOptions, options).choice()
    require_engine(choice)
    grid = _grid(options)
    with (
        ending_as_by_ctrl_c(),
        showing(error_screen()) as progress,
        exploring(choice, announce=progress.announce) as explorer,
    ):
        matrix = explore_grid(grid, explorer, engine=choice.name, follow=following(progress))
    screen().print(render_matrix(matrix))
    _write(options, matrix)
    return exit_codes.HOLDS if matrix.complete else exit_codes.INCOMPLETE


def _grid(options: dict[str, Any]) -> Grid:
    """Build the grid from the options. Raises `BadEnvironment`."""
    over = [name.strip() for name in (options["over"] or ",".join(OVER)).split(",")]
    return grid_over(over, only_of(options), **sizes_of(options, options["replicas"] or 2))


def _write(options: dict[str, Any], matrix: Matrix) -> None:
    writers: dict[str, Callable[[], str]] = {
        "json_file": lambda: to_text(matrix),
        "csv_file": lambda: to_csv(matrix),
        "html_file": lambda: _page(matrix),
        "svg_file": lambda: to_svg(render_matrix(matrix)),
    }
    write_files({options[name]: text for name, text in writers.items() if options[name]})


def _page(matrix: Matrix) -> str:
    from waterline.checker.report.pages.matrix_page import to_html  # noqa: PLC0415 - few ask for a page

    return to_html(matrix)
