"""Compiled programs of the storage, by words per state."""

from __future__ import annotations

from waterline.checker.compiler.program import Recipe, load_program
from waterline.checker.storage import blocks, compact, explore_loop, runs


def in_memory(words: int, *, threads: int) -> tuple[Recipe, ...]:
    """Return the recipes of a search in memory by so many threads."""
    return (compact.recipe_of(words, alone=threads == 1),)


def over_files(words: int) -> tuple[Recipe, ...]:
    """Return the further recipes of a search over files."""
    return blocks.recipe_of(words), runs.recipe_of(words), explore_loop.recipe_of(words)


def make_ready(recipes: tuple[Recipe, ...]) -> None:
    """Compile or load them now, not when they are first called."""
    for recipe in recipes:
        load_program(recipe)
