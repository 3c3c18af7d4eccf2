"""`python -m fuzz.stale_disk`: how many cases, from which seed on, and the shapes made by hand."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from fuzz.stale_disk.attempt import outcomes
from fuzz.stale_disk.drawn import drawn
from fuzz.stale_disk.judging import Table, judge
from fuzz.stale_disk.processes import Commands
from fuzz.stale_disk.shapes import SHAPES


@click.command()
@click.option("--cases", default=1000, show_default=True, help="How many are drawn.")
@click.option("--seed", default=1, show_default=True, help="The first; each case has its own.")
@click.option("--shapes", "with_shapes", is_flag=True, help="Those made by hand instead.")
@click.option("--only", default="", help="Of these, those with this text in their names.")
def main(cases: int, seed: int, with_shapes: bool, only: str) -> None:
    """Change what models look up, and see whether an answer of before comes back."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="stale-") as folder, Commands() as commands:
        lines = (
            _by_hand(commands, Path(folder), only)
            if with_shapes
            else _by_chance(commands, Path(folder), range(seed, seed + cases))
        )
        wrong = False
        for line, is_wrong in lines:
            print(line, flush=True)
            wrong |= is_wrong
    print(f"{time.monotonic() - started:.0f} s")
    sys.exit(1 if wrong else 0)


def _by_hand(commands: Commands, folder: Path, only: str) -> Iterator[tuple[str, bool]]:
    chosen = [shape for shape in SHAPES if only in f"{shape.group} {shape.name}"]
    for number, shape in enumerate(chosen):
        found = outcomes(shape.case(), commands, folder / str(number), shape.doors)
        words = "".join(f"{door} {found[door].what:10}" for door in shape.doors)
        is_wrong = any(each.what in {"WRONG", "UNPLACED", "kept"} for each in found.values())
        yield f"{shape.group:10} {shape.name:60} {words} {found['gate'].seen}", is_wrong


def _by_chance(commands: Commands, folder: Path, seeds: range) -> Iterator[tuple[str, bool]]:
    table = Table()
    for seed in seeds:
        case = drawn(seed)
        word, found = judge(case, commands, folder / str(seed))
        table.add(case, word)
        if word in {"WRONG", "LOST", "UNPLACED"}:
            seen = "; ".join(f"{door}: {each.what}, {each.seen}" for door, each in found.items())
            yield f"{word} seed {seed}, {case.change} in {' in '.join(case.lookup)}: {seen}", True
    for line in table.lines():
        yield line, False
    mistakes = ("WRONG", "LOST", "UNPLACED")
    yield ", ".join(f"{table.count(word)} {word}" for word in mistakes), False


if __name__ == "__main__":
    main()
