"""Every loss beyond the bounds that a report advises of is one."""

from __future__ import annotations

import pytest

from tests.cli.test_report import advised, assert_loses_a_record


@pytest.mark.parametrize(("version", "number"), advised())
def test_what_is_advised_loses_a_record(version: str, number: str) -> None:
    assert_loses_a_record(version, number)
