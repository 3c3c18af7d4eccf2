"""Our own gates cover what is on record. That they are met is `make gate`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.documents import gates
from tests.support.gate_texts import read

ROOT = Path(__file__).parents[2]
STRICT = [
    "gate.toml",
    "gates/environments.toml",
    "gates/examples.toml",
    "gates/unbounded.toml",
]
"""Not the catalogue, a claim at a time, and not the counts, whose peer judges nine claims."""


def test_gates_have_the_verdicts_of_catalogue_and_environments() -> None:
    """Otherwise: `python -m lab.documents.gates`, and look at the difference."""
    assert list(gates.differing()) == []


@pytest.mark.parametrize("name", STRICT)
def test_a_gate_of_ours_names_all_that_it_covers(name: str) -> None:
    file = ROOT / name
    found = read(file.read_text(), file.parent, allow_models=True)

    assert all(each.strict and each.counts for each in found)


def test_another_verdict_would_be_seen() -> None:
    text = (gates.FOLDER / "environments.toml").read_text()
    other = text.replace('"holds"', '"violated"', 1)

    assert gates.plain(other) != gates.plain(text)
    assert gates.plain(re.sub(r"depth = \d+", "depth = 0", text)) == gates.plain(text)


def test_every_example_is_in_a_gate() -> None:
    text = (gates.FOLDER / "examples.toml").read_text()
    named = set(re.findall(r'"\.\./examples/(\w+)\.py"', text))

    assert named == {path.stem for path in (ROOT / "examples").glob("*.py")}
