"""The documents are a site without a broken link, and every document has its place in it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_site_is_built_and_no_link_is_broken(tmp_path: Path) -> None:
    """Also a document that no group names is an error."""
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert built.returncode == 0, built.stderr
    assert "10. hw: r1 learns that r0 leads" in (tmp_path / "index.html").read_text()
    assert (tmp_path / "tutorial.html").is_file()
    assert (tmp_path / "pictures" / "loss.svg").is_file()
