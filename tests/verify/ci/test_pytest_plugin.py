"""Kafka is checked in code, and gates are tests where tests run side by side."""

from __future__ import annotations

import pytest

from tests.ci.test_pytest_plugin import OWN, project
from tests.support.gate_texts import entry

__all__ = ["project"]

pytest_plugins = ["pytester"]


KAFKA = """
def test_kafka(check_model):
    check_model(protocol="epoch", records=1, epochs=1, restarts=1, verdicts={"sane": "holds"})
"""


def test_kafka_is_checked_in_code(project: pytest.Pytester) -> None:
    project.makepyfile(KAFKA)

    project.runpytest_subprocess().assert_outcomes(passed=1)


def test_it_works_side_by_side(project: pytest.Pytester) -> None:
    (project.path / "gate.toml").write_text(entry("a") + entry("b") + OWN)
    done = project.runpytest_subprocess("-n", "2", "--waterline-allow-models")

    done.assert_outcomes(passed=2, failed=1)
