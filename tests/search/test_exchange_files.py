"""Exchange files: what is read is what was written, or an error."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from waterline.checker.search.engines.shipping import (
    CandidatesLost,
    Segment,
    SegmentFile,
    read_segments,
)


def written(folder: Path) -> tuple[list[Segment], list[list[int]]]:
    """Segments of two files, mixed, and the states in them."""
    rows = np.arange(24, dtype=np.uint64).reshape(-1, 2)
    with closing(SegmentFile(folder)) as one, closing(SegmentFile(folder)) as other:
        segments = [
            one.write(rows[:3].tobytes()),
            other.write(rows[3:4].tobytes()),
            other.write(rows[4:9].tobytes()),
            one.write(rows[9:].tobytes()),
        ]
    return segments, rows.tolist()


def test_segments_of_several_files_are_read_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    segments, rows = written(tmp_path / "level")

    assert read_segments(tmp_path / "level", segments, 2).tolist() == rows
    assert read_segments(tmp_path / "level", segments[2:3], 2).tolist() == rows[4:9]
    assert len({segment.name for segment in segments}) == 2


def test_a_task_that_sends_nothing_makes_no_file(tmp_path: Path) -> None:
    with closing(SegmentFile(tmp_path / "level")):
        pass

    assert list(tmp_path.iterdir()) == []
    assert read_segments(tmp_path / "level", [], 2).shape == (0, 2)


@pytest.mark.parametrize("harm", ["removed", "cut short", "one bit changed", "a link"])
def test_damage_is_noticed(tmp_path: Path, harm: str) -> None:
    segments, _ = written(tmp_path)
    path = tmp_path / segments[0].name
    data = bytearray(path.read_bytes())
    path.unlink()
    if harm == "cut short":
        path.write_bytes(data[:-1])
    elif harm == "one bit changed":
        data[5] ^= 4
        path.write_bytes(data)
    elif harm == "a link":
        path.symlink_to(tmp_path / segments[1].name)

    with pytest.raises(CandidatesLost, match=path.name):
        read_segments(tmp_path, segments, 2)
