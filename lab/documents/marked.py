"""Parts of documents that are made from the code: printed, or written between their two marks."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path


def print_or_write(description: str, made_of: Mapping[Path, str]) -> None:
    """Print what was made for each document, or with --write put it there.

    Its first line and its last are the marks.
    """
    parser = argparse.ArgumentParser(description=description.split("\n", maxsplit=1)[0])
    names = " and ".join(path.name for path in made_of)
    parser.add_argument("--write", action="store_true", help=f"put it into {names}")
    write = parser.parse_args().write
    for document, made in made_of.items():
        if not write:
            print(made)
            continue
        begin, *_, end = made.splitlines()
        before, rest = document.read_text(encoding="utf-8").split(begin)
        document.write_text(before + made + rest.split(end)[1], encoding="utf-8")
