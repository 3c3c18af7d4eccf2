"""Configurations as people have them: their files can be read, and the page tells what is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lab.documents.configurations import SHOWN
from tests.support.commands import Commands
from waterline.checker.kafka.matrix.properties import read_config
from waterline.model.message.versions import version_of

CONFIGS = sorted((Path(__file__).parents[2] / "golden" / "configs").glob("*.properties"))
PAGE = (Path(__file__).parents[3] / "docs" / "results/configurations.md").read_text(
    encoding="utf-8"
)
ALONE = [path for path in CONFIGS if path.stem.endswith("-1") and "isr" not in path.stem]
"""Those of one replica: explored in no time."""


def row(name: str) -> list[str]:
    """What the page says of every fault."""
    [line] = re.findall(rf"^\| {re.escape(name)} \|(.+)\|$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in line.split("|")]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_file_says_its_release_its_replicas_and_what_must_be_in_sync(path: Path) -> None:
    config = read_config(path)
    release, replicas, isr = re.fullmatch(
        r"(?:kraft|zookeeper)-([\d.]+)(?:-elr)?-(\d)(?:-isr-(\d))?.*", path.stem
    ).groups()  # type: ignore[union-attr]  # the files are named so

    assert config.is_release_said
    assert config.kafka.startswith(f"Kafka {release}")
    assert version_of(config.version)
    assert config.explored.replicas == int(replicas)
    assert config.explored.min_insync == int(isr or 1)
    assert len(row(path.stem)) == len(SHOWN)


def test_there_are_at_least_twelve_that_differ() -> None:
    kinds = {
        (c.kafka, c.yours.replicas, c.yours.min_insync, c.unclean)
        for c in map(read_config, CONFIGS)
    }

    assert len(kinds) == len(CONFIGS) >= 12


def assert_no_cell_holds_of_one_replica(path: Path, cli: Commands, folder: Path) -> None:
    """Nobody leads then, so that whatever is claimed of the leader holds; the record is gone."""
    shown = ("--only", f"faults={','.join(SHOWN)}", "--json", folder / "m.json")
    code, _, _ = cli("matrix", "--config", path, *shown, name="waterline")
    cells = json.loads((folder / "m.json").read_text())["cells"]
    disk = next(cell for cell in cells if cell["at"]["faults"] == "lost disk")
    moves = next(cell for cell in cells if cell["at"]["faults"] == "leader moves")

    assert code == 12
    assert [cell["label"] for cell in cells] == row(path.stem)
    assert disk["claims"]["acknowledged_on_disk"]["verdict"] == "violated"
    assert "leadership never moves" in moves["empty"]


def test_no_cell_of_the_page_that_holds_is_empty_without_saying_so() -> None:
    for line in re.findall(r"^\| .+ \| holds .*$", PAGE, re.MULTILINE):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 9:
            happened = [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) [A-Z]", cells[6])]
            assert happened, line
            assert all(happened), line
