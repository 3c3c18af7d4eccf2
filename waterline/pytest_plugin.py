"""A pytest plugin: gates as tests, and `check_model` for checks in code.

    pytest gate.toml --waterline-allow-models

Every expectation of a file called `gate.toml` or `*.gate.toml` is a test; a failure shows the
counterexample as `check` does. Of Waterline nothing is imported until there is a gate, or a test
asks for the fixture.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from waterline.pytest_gates import CheckModel

ALLOW = "--waterline-allow-models"
ALLOW_SPARK = "--waterline-allow-spark"
NO_CACHE = "--waterline-no-cache"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options about gates."""
    group = parser.getgroup("waterline")
    group.addoption(
        ALLOW,
        action="store_true",
        help="Gates may name models of somebody's own: Python files, which are run.",
    )
    group.addoption(
        ALLOW_SPARK,
        action="store_true",
        help="Gates may name any Spark master and setting, by which programs can be run.",
    )
    group.addoption(NO_CACHE, action="store_true", help="Search also where nothing has changed.")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A gate as a collector of its expectations."""
    if file_path.name == "gate.toml" or file_path.name.endswith(".gate.toml"):
        from waterline.pytest_gates import GateFile  # noqa: PLC0415 - few folders have a gate

        gate: GateFile = GateFile.from_parent(parent, path=file_path)
        return gate
    return None


@pytest.fixture
def check_model(request: pytest.FixtureRequest) -> CheckModel:
    """Checks a model in code: `check_model("lock.py", verdicts={"one_works": "holds"})`."""
    from waterline.pytest_gates import CheckModel  # noqa: PLC0415 - as above

    return CheckModel(request.config, request.path.parent, request.node.name)
