"""The catalogue on released brokers, for the site: tables of docs/released-brokers.jsonl."""

from __future__ import annotations

import re
from pathlib import Path

from lab.survey.cells import read_cells
from lab.survey.document import to_markdown

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "released-brokers.jsonl"
PLACE = "<!-- made: released-brokers -->"
_TO_FILE = re.compile(r"\]\((?!https?:|#)")


def page() -> str:
    """Return the part of the page below its title, with links from docs/results/."""
    text = to_markdown(read_cells(RESULTS), "docs/released-brokers.jsonl")
    return _TO_FILE.sub("](../", text.partition("\n\n")[2])
