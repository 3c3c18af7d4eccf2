"""A large constant table is exported as questions that halve it."""

from __future__ import annotations

from tests.support.tla_modules import module_of
from tests.user_models.test_constant_tables import LARGE


def test_a_large_table_is_asked_in_halves() -> None:
    assert module_of(LARGE).text.count("ELSE") > 400
