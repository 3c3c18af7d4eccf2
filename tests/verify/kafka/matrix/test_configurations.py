"""Each configuration of one replica: it loses its disk, and no cell holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kafka.matrix.test_configurations import ALONE, assert_no_cell_holds_of_one_replica
from tests.support.commands import Commands


@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.stem)
def test_one_replica_that_loses_its_disk_is_no_cell_that_holds(
    path: Path, cli: Commands, tmp_path: Path
) -> None:
    assert_no_cell_holds_of_one_replica(path, cli, tmp_path)
