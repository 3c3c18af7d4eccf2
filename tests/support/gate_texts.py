"""Gates for tests, as text, and what is read from it; the numbers of our own gates."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from waterline.checker.ci.document import parse
from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.reading import expectations_of
from waterline.checker.cli.gate_options import asking

SMALL = "records = 1\nepochs = 1\nrestarts = 1\n"
"""Bounds with few states, in which everything happens that must."""


def entry(name: str = "n", more: str = SMALL, verdicts: str = 'sane = "holds"') -> str:
    return (
        f'[[expect]]\nname = "{name}"\nprotocol = "epoch"\nengine = "local"\n{more}'
        f"verdicts = {{ {verdicts} }}\n"
    )


def read(text: str, folder: Path = Path(), **more: Any) -> list[Expectation]:
    document = parse(text, "gate.toml")
    more = {"allow_models": False, **more}
    return expectations_of(document, asking(), folder=folder, **more)


def entries_of(gate: str) -> list[dict[str, Any]]:
    """What a file in gates/ expects, as it is written there."""
    text = (Path(__file__).parents[2] / "gates" / gate).read_text()
    expected: list[dict[str, Any]] = tomllib.loads(text)["expect"]
    return expected


def depths_of(entry: dict[str, Any]) -> dict[str, int]:
    """The least depth of each claim that an entry expects to be violated."""
    verdicts = entry["verdicts"].items()
    return {claim: said["depth"] for claim, said in verdicts if isinstance(said, dict)}
