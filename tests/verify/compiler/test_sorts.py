"""The rules of every version keep to the sorts, whatever is switched."""

from __future__ import annotations

import pytest

from tests.compiler.test_sorts import assert_well_sorted, switched
from waterline.model.message.versions import VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_the_rules_of_a_version_keep_to_the_sorts_whatever_is_switched(version: str) -> None:
    texts = list(switched(version))

    assert len(texts) > 15
    assert_well_sorted(texts)
