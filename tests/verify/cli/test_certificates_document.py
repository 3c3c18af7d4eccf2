"""What docs/verification.md shows is what its commands print, run in their order in one folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.certificates import certificate_of, header_in, put_header
from tests.support.commands import Commands
from waterline.checker.kafka.families import problem_for
from waterline.model.message.environment import Environment

DOCUMENT = Path(__file__).parents[3] / "docs" / "verification.md"
BLOCKS = re.findall(
    r"<!-- run -->\n```console\n\$ \.venv/bin/(.+)\n((?:.*\n)+?)```", DOCUMENT.read_text()
)


def test_the_document_shows_what_is_printed(
    cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    certificate_of(problem_for("hw", Environment()), tmp_path / "hw")
    header = header_in(tmp_path / "hw")
    header["claims"]["no_committed_loss"] = {"verdict": "holds", "depth": None}
    put_header(tmp_path / "hw", header)

    for command, shown in BLOCKS:
        name, *arguments = shlex.split(command)
        _, printed, _ = cli(*arguments, name=name)
        at = 0
        for piece in shown.split("[...]\n"):
            at = printed.find(piece, at)
            assert at >= 0, f"not printed by {command}:\n{piece}"
            at += len(piece)

    assert len(BLOCKS) == DOCUMENT.read_text().count("```console") == 3
