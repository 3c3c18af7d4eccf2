"""Keys of states: their packed words as bytes, which identify them and compare as they do."""

from __future__ import annotations

from collections.abc import Iterable

BYTES = 8
"""Bytes of a word."""


def words_of(key: bytes) -> tuple[int, ...]:
    """The packed words of a key, which has the most significant byte of each first."""
    return tuple(int.from_bytes(key[i : i + BYTES], "big") for i in range(0, len(key), BYTES))


def key_of(words: Iterable[int]) -> bytes:
    """The key of packed words."""
    return b"".join(word.to_bytes(BYTES, "big") for word in words)
