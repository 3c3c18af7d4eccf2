"""What is compiled of the store, for states of so many words."""

from __future__ import annotations

from checker.compiled.program import Program, loaded
from checker.store import blocks, runs, visited


def in_memory(words: int, *, threads: int) -> tuple[Program, ...]:
    """What a search in memory by so many threads needs."""
    return (visited.program_of(words, alone=threads == 1),)


def over_files(words: int) -> tuple[Program, ...]:
    """What a search over files needs beside it."""
    gathers = visited.program_of(words, alone=True)
    return blocks.program_of(words), runs.program_of(words), gathers


def make_ready(programs: tuple[Program, ...]) -> None:
    """Compile or load them now, not when they are first called."""
    for program in programs:
        loaded(program)
