"""Gates are tests where tests run side by side, too."""

from __future__ import annotations

import pytest

from tests.ci.test_pytest_plugin import OWN, project
from tests.support.gate_texts import entry

__all__ = ["project"]

pytest_plugins = ["pytester"]


def test_it_works_side_by_side(project: pytest.Pytester) -> None:
    (project.path / "gate.toml").write_text(entry("a") + entry("b") + OWN)
    done = project.runpytest_subprocess("-n", "2", "--waterline-allow-models")

    done.assert_outcomes(passed=2, failed=1)
