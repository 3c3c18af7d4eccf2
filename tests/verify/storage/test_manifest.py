"""Many edits of a manifest: each is refused by name, or it means something."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.storage.test_manifest import assert_an_edit_is_refused_by_name, kept, text

__all__ = ["kept", "text"]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_no_edit_ends_in_an_error_without_a_name(
    data: st.DataObject, text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert_an_edit_is_refused_by_name(data, text, tmp_path_factory.mktemp("edited"))
