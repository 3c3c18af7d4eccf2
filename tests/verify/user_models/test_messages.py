"""Symmetry renames three names within structs."""

from __future__ import annotations

from pathlib import Path

from tests.user_models.test_messages import assert_renamed_within_structs, net, symmetric

__all__ = ["net", "symmetric"]


def test_symmetry_renames_what_is_within_structs(symmetric: Path) -> None:
    assert_renamed_within_structs(symmetric, {"nodes": 3, "top": 1, "room": 2})
