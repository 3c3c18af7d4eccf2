"""An operator's configuration as versions and options: one for each fault requested.

Files and faults have the same meaning as in `waterline matrix --config`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from waterline.checker.kafka.deployed.deployment import BadConfig
from waterline.checker.kafka.matrix.grid import FAULT, Cell, Grid, check_cells
from waterline.checker.kafka.matrix.properties import Config, read_config
from waterline.model.core.errors import BadEnvironment


def entries_of(
    files: Sequence[Path],
    *,
    acks: str | None,
    kafka_version: str | None,
    faults: Sequence[str],
    sizes: Mapping[str, int],
) -> list[tuple[str, str, dict[str, object]]]:
    """For each fault its name, the version, and the options; for every fault where none is named.

    The first of `files` is the server's, the others are of topics. Raises `BadEnvironment`.
    """
    try:
        config = read_config(
            files[0],
            files[1:],
            acks=acks,
            kafka_version=kafka_version,
            replicas=sizes.get("replicas"),
        )
    except BadConfig as problem:
        raise BadEnvironment(str(problem)) from None
    if config.stand_in and "replicas" not in sizes:
        raise BadEnvironment(
            f"{files[0]} has {config.yours}, of which a smaller size says nothing: write "
            f"replicas = {config.yours.replicas}, which takes longer, or replicas = "
            f"{config.explored.replicas} for a verdict about {config.explored}"
        )
    asked: dict[str, Any] = {**sizes, "replicas": config.explored.replicas}
    grid = check_cells(Grid(axes=config.axes(only=faults), **asked))
    return [
        (_cell_name(cell, config), cell.version, cell.environment.options())
        for cell in grid.cells()
    ]


def _cell_name(cell: Cell, config: Config) -> str:
    """The fault, and the size that is explored where it is another."""
    size = f", as {cell.size}" if cell.size != config.yours else ""
    return f"{cell.coordinates[FAULT]}{size}"
