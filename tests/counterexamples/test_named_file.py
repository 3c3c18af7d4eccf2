"""Files that a person names: what is read, what is replaced, and what is left when that fails."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from waterline.counterexamples.named_file import (
    BadFile,
    read_named,
    require_replaceable,
    written_whole,
)


def write(path: Path, content: bytes) -> None:
    with written_whole(path) as file:
        file.write(content)


def special(kind: str, folder: Path) -> Path:
    """A file of this kind."""
    path = folder / "special"
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    elif kind == "a device":
        return Path("/dev/zero")
    else:
        (folder / "target").write_text("of somebody")
        path.symlink_to(folder / "target")
    return path


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a device"])
def test_only_regular_files_are_read(kind: str, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=f"is {kind}; name a regular file"):
        read_named(special(kind, tmp_path), bytes_max=1000)


def test_a_link_is_read_and_too_much_is_not(tmp_path: Path) -> None:
    link = special("a symbolic link", tmp_path)

    assert read_named(link, bytes_max=11) == b"of somebody"
    with pytest.raises(BadFile, match="larger than 10 bytes"):
        read_named(link, bytes_max=10)


@pytest.mark.parametrize("kind", ["a pipe", "a folder", "a device", "a symbolic link"])
def test_only_regular_files_are_replaced(kind: str, tmp_path: Path) -> None:
    path = special(kind, tmp_path)
    before = path.lstat()
    with pytest.raises(BadFile, match=f"is {kind}; name a regular file"):
        require_replaceable(path)
    with pytest.raises(BadFile, match=f"is {kind}; name a regular file"):
        write(path, b"ours")

    assert path.lstat().st_ino == before.st_ino
    assert kind != "a symbolic link" or (tmp_path / "target").read_text() == "of somebody"


def test_a_file_is_replaced_at_once_and_hands_on_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    path.chmod(0o640)
    with written_whole(path) as file:
        file.write(b"half")
        file.flush()
        during = path.read_text()

    assert (during, path.read_text()) == ("before", "half")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    with pytest.raises(TypeError), written_whole(path) as file:
        file.writelines([b"half", None])  # type: ignore[list-item]

    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_names_the_file_and_leaves_none(small_disk: Path) -> None:
    path = small_disk / "file"
    with pytest.raises(BadFile, match=r"file cannot be written: No space left on device; free"):
        write(path, bytes(1 << 20))

    assert list(small_disk.iterdir()) == []


def test_a_folder_that_is_not_there_is_told_before_and_when_writing(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "file"
    with pytest.raises(BadFile, match="cannot be written"):
        require_replaceable(path)
    with pytest.raises(BadFile, match="cannot be written: No such file or directory"):
        write(path, b"")
