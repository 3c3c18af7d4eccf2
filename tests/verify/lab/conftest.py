"""Fixtures that these tests share with those of tests/lab."""

from __future__ import annotations

from tests.lab.conftest import lab_command, pretended

__all__ = ["lab_command", "pretended"]
