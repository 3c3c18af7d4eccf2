"""Execution of `matrix` over a grid: its sizes, the progress, what is shown and written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import click

from waterline.checker.batch.in_memory import exploring
from waterline.checker.cli.matrix import MatrixOptions
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import write_files
from waterline.checker.cli.shared.options import require_engine
from waterline.checker.cli.shared.progress import Progress, ending_as_by_ctrl_c, showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.kafka.matrix.deepening import Follow, Rung
from waterline.checker.kafka.matrix.files import as_text, to_csv, to_object
from waterline.checker.kafka.matrix.grid import (
    EPOCHS_MAX_RAISED,
    FAULT,
    OVER,
    VERSION,
    Grid,
    first_records,
    grid_over,
)
from waterline.checker.kafka.matrix.matrix import Matrix, explore_grid
from waterline.checker.kafka.matrix.table import render_matrix, to_svg
from waterline.checker.problem.wording import quantity
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.fluss import fluss_release
from waterline.model.message.releases import UnknownRelease

_WITH_CONFIG = (
    *("topic_config", "acks", "kafka_version", "quick", "no_cache", "details"),
    *("quote", "sarif_file", "junit_file", "github"),
)
_WITHOUT_CONFIG = ("fluss",)


def is_about_deployment(options: MatrixOptions) -> bool:
    """True if a configuration was given. Raises `UsageError` for options that go with one."""
    if options.config or options.bootstrap_server:
        for name in _WITHOUT_CONFIG:
            if getattr(options, name):
                raise click.UsageError(
                    f"--{name} goes with a grid; what is read from files and clusters is Kafka's"
                )
        return True
    for name in _WITH_CONFIG:
        if getattr(options, name):
            remedy = "; use --only acks=..." if name == "acks" else ""
            option = name.removesuffix("_file").replace("_", "-")
            raise click.UsageError(f"--{option} goes with --config{remedy}")
    for name in ("command_config", "save_file"):
        if getattr(options, name):
            option = name.removesuffix("_file").replace("_", "-")
            raise click.UsageError(f"--{option} goes with --bootstrap-server")
    return False


def only_of(options: MatrixOptions) -> list[tuple[str, str]]:
    """The values that --only and --fluss choose, each with its axis."""
    chosen = [pair for pairs in options.only for pair in pairs]
    return [*chosen, *((VERSION, version) for version in _versions_of_fluss(options.fluss))]


def _versions_of_fluss(releases: Sequence[str]) -> list[str]:
    """The versions that these releases follow, each once. Raises `BadEnvironment`."""
    try:
        return list(dict.fromkeys(fluss_release(release).name for release in releases))
    except UnknownRelease as problem:
        raise BadEnvironment(f"--fluss: {problem}") from None


def sizes_of(options: MatrixOptions, replicas: int) -> dict[str, Any]:
    """Return the bounds of the cells, and the claims to check."""
    asked: dict[str, Any] = {
        "replicas": replicas,
        "records": first_records(replicas, options.records),
        "records_max": options.records,
        "epochs": options.epochs,
        "epochs_max": _max_epochs(options),
        "max_states": options.max_states,
        "tries_unbounded": options.unbounded,
    }
    if options.invariants:
        asked["invariants"] = options.invariants
    return asked


def _max_epochs(options: MatrixOptions) -> int:
    """Return --max-epochs; by default the usual limit, or --epochs if that is more."""
    asked, first = options.max_epochs, options.epochs
    if asked is not None and asked < first:
        raise click.UsageError(f"--max-epochs is {asked}, less than --epochs, which is {first}")
    return max(EPOCHS_MAX_RAISED, first) if asked is None else int(asked)


CELL, REMEDY = "cell", "remedy"


def following(progress: Progress, what: str = CELL, about: str = "") -> Follow:
    """Return a callback that shows what is explored, within which bounds, and how much is left.

    `about` names the topics, where there are several kinds.
    """
    before = f"{about}: " if about else ""

    def follow(rung: Rung, done: int, under_way: Collection[int] | None) -> None:
        now = [rung.cells[place].coordinates[FAULT] for place in under_way or ()]
        doing = f"; now {', '.join(dict.fromkeys(now))}" if now else ""
        if what == REMEDY:
            remedies = "remedy" if len(rung.cells) == 1 else "remedies"
            count = f"{done} of {len(rung.cells)} {remedies} tried"
        else:
            epochs = "any number of epochs" if rung.is_unbounded else f"epochs 0 to {rung.epochs}"
            count = f"{done} of {quantity(len(rung.cells), what)} explored"
            count = f"{quantity(rung.records, 'record')}, {epochs}: {count}"
        progress.report(f"{before}{count}{doing}")

    return follow


def answer_matrix(options: MatrixOptions) -> int:
    """Explore what the options ask for, and show it; returns the exit code."""
    choice = options.running.choice()
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


def _grid(options: MatrixOptions) -> Grid:
    """Build the grid from the options. Raises `BadEnvironment`."""
    over = [name.strip() for name in (options.over or ",".join(OVER)).split(",")]
    return grid_over(over, only_of(options), **sizes_of(options, options.replicas or 2))


def _write(options: MatrixOptions, matrix: Matrix) -> None:
    write_files(
        {
            options.json_file: lambda: as_text(to_object(matrix)),
            options.csv_file: lambda: to_csv(matrix),
            options.html_file: lambda: _page(matrix),
            options.svg_file: lambda: to_svg(render_matrix(matrix)),
        }
    )


def _page(matrix: Matrix) -> str:
    from waterline.checker.report.pages.matrix_page import to_html  # noqa: PLC0415 - few ask for a page

    return to_html(matrix)
