"""Part of a document that is made from the code: printed, or written between its two marks."""

from __future__ import annotations

import argparse
from pathlib import Path


def print_or_write(description: str, document: Path, made: str) -> None:
    """Print `made`, or with --write put it into the document.

    Its first line and its last are the marks.
    """
    parser = argparse.ArgumentParser(description=description.split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help=f"put it into docs/{document.name}")
    if not parser.parse_args().write:
        print(made)
        return
    begin, *_, end = made.splitlines()
    before, rest = document.read_text(encoding="utf-8").split(begin)
    document.write_text(before + made + rest.split(end)[1], encoding="utf-8")
