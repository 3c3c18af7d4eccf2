"""The gate of the catalogue expects the least depths that the catalogue's document shows.

The document is compared with what is explored (test_scenarios.py); continuous integration leaves
this gate out.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
_SECTION = re.compile(r"^## (C\w+) ", re.MULTILINE)
_ROW = re.compile(r"^\| (\S+)((?: [+-]\S+)*) \| violated \| (\d+) \|", re.MULTILINE)


def documented() -> dict[tuple[str, str], int]:
    """The least depth by the number of an entry and the version."""
    numbers_and_texts = _SECTION.split((ROOT / "docs" / "scenarios.md").read_text())[1:]
    found = {}
    for number, text in zip(numbers_and_texts[::2], numbers_and_texts[1::2], strict=True):
        for base, switched, depth in _ROW.findall(text):
            words = [(word[0], word[1:]) for word in switched.split()]
            removed = "".join(f"-without-{name}" for sign, name in words if sign == "-")
            added = "".join(f"-with-{name}" for sign, name in words if sign == "+")
            found[number, f"{base}{removed}{added}"] = int(depth)
    return found


def test_the_gate_of_the_catalogue_has_the_depths_of_its_document() -> None:
    depths = documented()
    gate = tomllib.loads((ROOT / "gates" / "catalogue.toml").read_text())
    compared = 0
    for entry in gate["expect"]:
        for verdict in entry["verdicts"].values():
            if isinstance(verdict, dict) and "depth" in verdict:
                number = entry["name"].split()[0]
                assert verdict["depth"] == depths[number, entry["protocol"]], entry["name"]
                compared += 1

    assert compared > 100
