"""Hooks of mkdocs: papers of the repository as pages, README first; tables that code makes.

Links to other files become plain text.

mkdocs build --strict
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # mkdocs loads this file by its path
from lab.documents import api, brokers, catalogue, compiled_rule, tables  # noqa: E402 - they need that path

PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}
"""Files beside docs/ that are pages of the site, and their names there."""
_TO_FILE = re.compile(r"\]\((?!https?:|#)")


def on_files(files: Files, config: Any) -> Files:
    """The papers, their links seen from docs/, and the page of the package."""
    for paper, page in PAGES.items():
        text = _TO_FILE.sub("](../", (ROOT / paper).read_text(encoding="utf-8"))
        text = text.replace("](../docs/", "](")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "api.md", content=api.page()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Tables in their places; a link to a paper leads to its page, to another file names it."""
    markdown = tables.fill_tables(markdown)
    for maker in (brokers, catalogue, compiled_rule):
        if maker.PLACE in markdown:
            markdown = markdown.replace(maker.PLACE, maker.page())
    root = "../" * (page.file.src_uri.count("/") + 1)
    for paper, its_page in PAGES.items():
        markdown = markdown.replace(f"]({root}{paper}", f"]({root[3:]}{its_page}")
    return re.sub(rf"(?<!!)\[([^\]]+)\]\({root}([^)]+)\)", r"\1 (`\2`)", markdown)
