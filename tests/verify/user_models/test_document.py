"""docs/own-models.md: its tutorial prints what it shows, in an empty folder."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.support.own import EXAMPLES
from tests.user_models.test_document import BLOCKS, FILES, output_of

LEFT_OUT = "[...]\n"
SECONDS = re.compile(r" +(\d+\.\d|kept)$", re.MULTILINE)
"""What the gate's table ends with; it depends on the machine, and on what was asked before."""


def test_the_tutorial_prints_what_it_shows(tmp_path: Path) -> None:
    """In order, in one folder: each piece between two marks of omission occurs as it is."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    shutil.copy(EXAMPLES / "fenced_lease.py", tmp_path)
    missing = []
    for block in BLOCKS:
        for command, shown in re.findall(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            printed, at = SECONDS.sub("", output_of(command, tmp_path)), 0
            for piece in shown.split(LEFT_OUT):
                found = printed.find(SECONDS.sub("", piece).rstrip("\n"), at)
                missing += [] if found >= 0 else [(command, piece)]
                at = max(at, found)

    assert list(FILES) == ["lease.py", "gate.toml", "test_lease.py"]
    assert missing == []
