"""The example notebook runs from its first cell to its last, and shows what it is stored with."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat

from tests.support.own import EXAMPLES

NOTEBOOK = EXAMPLES / "lease.ipynb"
RUN = """
import sys
import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

notebook = nbformat.read(sys.argv[1], as_version=4)
# Over a socket in the file system: no port is opened.
config = Config({"KernelManager": {"transport": "ipc"}})
client = NotebookClient(
    notebook, timeout=120, kernel_name="python3", record_timing=False, config=config
)
client.execute()
nbformat.write(notebook, sys.argv[2])
"""
"""In a process of its own: what a kernel's client warns of, and leaves behind, is not ours."""


def outputs(notebook: Any) -> list[Any]:
    return [cell.get("outputs", []) for cell in notebook.cells if cell.cell_type == "code"]


def test_the_notebook_shows_what_it_is_stored_with(tmp_path: Path) -> None:
    # The path of a socket may have a hundred characters, and pytest's folders are long.
    with tempfile.TemporaryDirectory(prefix="nb") as folder:
        private = {"IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder, "JUPYTER_DATA_DIR": folder}
        done = subprocess.run(
            [sys.executable, "-c", RUN, NOTEBOOK, tmp_path / "run.ipynb"],
            env={**os.environ, **private, "PYTHONPATH": str(EXAMPLES.parent)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    stored = nbformat.read(NOTEBOOK, as_version=4)
    ran = nbformat.read(tmp_path / "run.ipynb", as_version=4)

    assert outputs(ran) == outputs(stored)
    assert "VIOLATED after 5 steps" in str(outputs(ran))
