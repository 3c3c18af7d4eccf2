"""The example notebook has the model of the tutorial. tests/verify runs its cells."""

from __future__ import annotations

import nbformat

from tests.support.live import lease_text
from tests.support.own import EXAMPLES

NOTEBOOK = EXAMPLES / "lease.ipynb"


def test_the_notebook_has_the_model_of_the_tutorial() -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    first = next(cell for cell in stored.cells if cell.cell_type == "code")
    _, _, text = lease_text().partition('"""\n\n')

    assert first.source == text.strip()
    assert all(cell.get("execution_count") for cell in stored.cells if cell.cell_type == "code")
