"""The gates of the catalogue and without bounds expect the numbers that their documents show."""

from __future__ import annotations

from pathlib import Path

from lab.documents import catalogue
from tests.support.gate_texts import depths_of, entries_of

ROOT = Path(__file__).parents[2]


def of_the_catalogue() -> dict[tuple[str, str], int]:
    """The least depth by the number of an entry and the version."""
    return {
        (outcome.scenario.number, outcome.version): outcome.depth
        for outcome in catalogue.outcomes(catalogue.read())
        if outcome.depth is not None
    }


def test_the_gate_of_the_catalogue_has_the_depths_on_record() -> None:
    depths = of_the_catalogue()
    compared = 0
    for entry in entries_of("catalogue.toml"):
        for depth in depths_of(entry).values():
            number = entry["name"].split()[0]
            assert depth == depths[number, entry["protocol"]], entry["name"]
            compared += 1

    assert compared > 100


def tables_without_bounds() -> list[dict[tuple[str, str], str]]:
    """Both tables of docs/results/unbounded.md, by version and size: counts; what is violated."""
    text = (ROOT / "docs" / "results" / "unbounded.md").read_text()
    table = text.split("<!-- table: versions -->")[1].split("<!-- end of table -->")[0]
    counts, violated = [
        [line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("|")]
        for part in table.split("\n\n")
    ]
    sizes = [title.replace(" records", "").replace(" record", "") for title in counts[0][1:]]
    return [
        {
            (version, size): cell
            for version, *cells in counts[2:]
            for size, cell in zip(sizes, cells, strict=True)
        },
        {
            (version, size): broken
            for version, of_sizes, broken in violated[2:]
            for size in of_sizes.split(" and ")
        },
    ]


def test_the_gate_without_bounds_has_the_numbers_of_its_document() -> None:
    counts, violated = tables_without_bounds()
    expected = {}
    for entry in entries_of("unbounded.toml"):
        row = f"`{entry['protocol']}`", f"{entry['records']}{', moves' * entry['moves']}"
        expected[row] = entry["counts"]
        broken = ", ".join(f"`{claim}` {depth}" for claim, depth in depths_of(entry).items())
        assert sorted(broken.split(", ")) == sorted(violated.get(row, "").split(", "))

    finished = {row: cell.split(", 0")[0] for row, cell in counts.items() if "stopped" not in cell}
    small = {row: cell for row, cell in finished.items() if len(cell.split(" /")[0]) < 7}
    assert small == {row: f"{n['distinct']:,} / {n['depth']}" for row, n in expected.items()}
