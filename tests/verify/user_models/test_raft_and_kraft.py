"""Raft and KRaft's log come to what Murphi models come to, within every bounds."""

from __future__ import annotations

import pytest

from tests.user_models.test_raft_and_kraft import ROWS, Row, assert_found, told


@pytest.mark.parametrize("row", ROWS, ids=told)
def test_both_models_come_to_the_same(row: Row) -> None:
    assert_found(row)
