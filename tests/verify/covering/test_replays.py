"""The large examples of tests/covering/test_corpus.py, within smaller bounds.

Of raft and kraft_log, every transition with two servers; with three, every state with one entry, up
to the servers' names. Of abd_register, every transition with one reader.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.covering.test_corpus import require_replays
from tests.support.commands import Commands


@pytest.mark.parametrize(
    ("name", "options", "bounds", "size"),
    [
        ("abd_register", "", {"readers": 1}, (4825, 49270)),
        ("kraft_log", "", {"voters": 2}, (311, 3658)),
        ("kraft_log", "--cover states --up-to voter", {"records": 1}, (786, 8310)),
        ("raft", "", {"servers": 2}, (515, 6038)),
        ("raft", "--cover states --up-to server", {"entries": 1}, (1206, 13114)),
    ],
)
def test_a_large_example_replays_in_plain_python(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    name: str,
    options: str,
    bounds: dict[str, int],
    size: tuple[int, int],
) -> None:
    run = Commands(capsys, monkeypatch)

    assert require_replays(run, tmp_path, name, *options.split(), **bounds) == size
