"""Exchange files: what is read is what was written, or an error."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from waterline.checker.search.engines.shipping import (
    CandidatesLost,
    Outgoing,
    Segment,
    SegmentFile,
    claim,
    read_segments,
    receive,
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


def test_an_owner_receives_its_parts_in_order_from_all_files(tmp_path: Path) -> None:
    rows = np.arange(24, dtype=np.uint64).reshape(-1, 2)
    sent: list[list[Segment | None]] = []
    for first in (0, 6):
        with closing(Outgoing(tmp_path / "level", 3)) as outgoing:
            outgoing.add(1, 1, rows[first : first + 2].tobytes())
            outgoing.add(2, 0, rows[first + 2 : first + 3].tobytes())
            outgoing.add(1, 0, rows[first + 3 : first + 6].tobytes())
            sent.append(outgoing.write_indices())
    of_owner = [
        [(part, block.tolist()) for part, block in receive(tmp_path / "level", indices, 2)]
        for indices in zip(*sent, strict=True)
    ]

    assert of_owner[0] == []
    assert of_owner[1] == [
        (0, [*rows[3:6].tolist(), *rows[9:].tolist()]),
        (1, [*rows[:2].tolist(), *rows[6:8].tolist()]),
    ]
    assert of_owner[2] == [(0, [*rows[2:3].tolist(), *rows[8:9].tolist()])]


def test_each_owner_is_claimed_by_one_task_and_again_by_its_next_attempt(tmp_path: Path) -> None:
    folder, tasks = tmp_path / "level" / "claims", range(20)

    def owner_of(task: int) -> int:
        return claim(folder, task, tasks)

    with ThreadPoolExecutor(8) as threads:
        owners = list(threads.map(owner_of, tasks))

    assert sorted(owners) == list(tasks)
    assert [owner_of(task) for task in tasks] == owners
    with pytest.raises(CandidatesLost, match="task 20"):
        owner_of(20)


def test_a_task_gets_the_owner_that_it_wants_most(tmp_path: Path) -> None:
    assert claim(tmp_path, 0, [3, 0]) == 3
    assert claim(tmp_path, 1, [3, 1]) == 1
