"""Compiled loop of an outbox: see `checker.storage.sent_loops`."""

from __future__ import annotations

import functools

from waterline.checker.compiler.program import Recipe, own_recipe
from waterline.checker.compiler.values import constant
from waterline.checker.storage.blocks import NUMBERS
from waterline.checker.storage.sent_loops import send


@functools.cache
def recipe_of(words: int) -> Recipe:
    """The loop for states of so many words."""
    return own_recipe((send, (NUMBERS, NUMBERS, NUMBERS, constant(words))))
