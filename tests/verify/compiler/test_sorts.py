"""The rules of every version keep to the sorts, whatever is switched; other rules are refused."""

from __future__ import annotations

import pytest

from tests.compiler.test_sorts import (
    ILL_SORTED,
    assert_refused_at_its_line,
    assert_well_sorted,
    switched,
)
from waterline.model.message.versions import VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_the_rules_of_a_version_keep_to_the_sorts_whatever_is_switched(version: str) -> None:
    texts = list(switched(version))

    assert len(texts) > 15
    assert_well_sorted(texts)


@pytest.mark.parametrize("name", ILL_SORTED)
def test_another_use_is_refused_at_its_line(name: str) -> None:
    assert_refused_at_its_line(name)
