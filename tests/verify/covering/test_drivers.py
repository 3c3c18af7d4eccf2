"""examples/drivers/: a corpus replayed in other languages, and a mistake found by it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.own import EXAMPLES

OFFLINE = ("Could not resolve", "Could not transfer", "Could not connect", "failed to download")
"""What Maven and Cargo print where a library cannot be fetched."""


@pytest.mark.parametrize(
    ("folder", "command", "server", "fence"),
    [
        ("go", "go test ./...", "lease.go", " || token < s.Highest"),
        ("rust", "cargo test --quiet", "src/lib.rs", " || token < self.highest"),
        (
            "junit",
            "mvn --batch-mode --quiet test",
            "src/main/java/LeaseServer.java",
            " || token < highest",
        ),
    ],
)
def test_a_driver_replays_every_path_and_finds_a_missing_check(
    folder: str, command: str, server: str, fence: str, tmp_path: Path
) -> None:
    tool, *_ = command.split()
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool} on the PATH")
    shutil.copytree(EXAMPLES / "drivers", tmp_path / "drivers")
    here = tmp_path / "drivers" / folder
    right = _run(command, here)
    if right.returncode and any(text in right.stdout + right.stderr for text in OFFLINE):
        pytest.skip(f"{folder}: its libraries cannot be fetched")
    text = (here / server).read_text()
    (here / server).write_text(text.replace(fence, ""))
    wrong = _run(command, here)

    assert fence in text
    assert right.returncode == 0, right.stdout + right.stderr
    assert wrong.returncode != 0
    assert "not enabled in the model" in wrong.stdout + wrong.stderr


def _run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command.split(), cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
