"""No two mutants of an example read alike, or are named alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.test_mutants import require_differing_mutants
from tests.support.own import EXAMPLES


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_no_two_mutants_of_an_example_read_alike_or_are_named_alike(path: Path) -> None:
    require_differing_mutants(path)
