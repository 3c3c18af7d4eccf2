"""What these tests share with those of tests/kafka/confirm."""

from __future__ import annotations

from tests.kafka.confirm.conftest import cli, pretended

__all__ = ["cli", "pretended"]
