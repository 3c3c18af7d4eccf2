"""Hooks of mkdocs: the first page is README, and links out of docs/ become plain text.

mkdocs build --strict
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)]+|CHANGELOG\.md)\)")


def on_files(files: Files, config: Any) -> Files:
    """README as the first page, its links seen from docs/."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """A link to a file that is not on the site names the file."""
    return _LINK.sub(r"\1 (`\2`)", markdown).replace("(`../", "(`")
