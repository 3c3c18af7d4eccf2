"""A search over states of six words, on every engine of one machine."""

from __future__ import annotations

import pytest

from tests.search.test_wide_states import assert_no_word_is_lost
from tests.support.engines import WAYS


@pytest.mark.parametrize("way", WAYS)
def test_no_word_of_a_wide_state_is_lost_on_any_engine(way: str) -> None:
    assert_no_word_is_lost(way, 6)
