"""In a run directory only plain files that lie there are opened: no links, no pipes, no devices."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from waterline.checker.checking.run import run
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.identity import identity_of
from waterline.checker.search.search import Budgets
from waterline.checker.storage.manifest import BadRun, read_manifest
from waterline.checker.storage.run_directory import InUse, begin, resume
from waterline.checker.storage.storage import Damaged, storage_at
from waterline.model.message.environment import Environment

REFUSED = (BadRun, Damaged)
THEIRS = "a thesis, of which there is no copy\n"


@pytest.fixture(autouse=True)
def _never_hangs() -> Iterator[None]:
    """What would wait for a pipe's other end is ended, and fails."""

    def late(number: int, frame: object) -> None:
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The directory of a run that was stopped after a few levels."""
    folder = tmp_path / "run"
    go_on(folder)
    return folder


def go_on(folder: Path, levels: int = 3) -> None:
    """Begin a run there, or resume it, and explore so many levels in all."""
    problem = problem_for("hw", Environment(records=1, epochs=1, restarts=1))
    if folder.exists():
        directory = resume(str(folder))
    else:
        directory = begin(str(folder), identity_of(problem), problem.model.layout.words)
    try:
        budgets = Budgets(max_depth=levels)
        run(problem, EngineChoice(name="local"), directory=directory, budgets=budgets)
    finally:
        directory.close()


def test_a_lock_that_is_a_link_is_refused_and_what_it_leads_to_is_left_alone(kept: Path) -> None:
    thesis = kept.parent / "thesis.txt"
    for link in (os.symlink, os.link):
        thesis.write_text(THEIRS)
        (kept / "lock").unlink()
        link(thesis, kept / "lock")
        with pytest.raises(REFUSED, match=r"run/lock is (a symbolic link|a file with 2 names)"):
            resume(str(kept))

    assert thesis.read_text() == THEIRS


def test_a_link_to_nothing_makes_no_file_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "lock").symlink_to(tmp_path / "new.txt")

    with pytest.raises(REFUSED, match="run/lock is a symbolic link"):
        begin(str(tmp_path / "run"), {}, 1)
    assert not (tmp_path / "new.txt").exists()


def test_a_file_called_lock_that_no_run_wrote_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(THEIRS)

    with pytest.raises(BadRun, match="lock is no lock of a run"):
        begin(str(tmp_path), {}, 1)
    assert (tmp_path / "lock").read_text() == THEIRS


def test_a_folder_that_holds_other_things_is_refused_and_gets_no_lock(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(THEIRS)

    with pytest.raises(BadRun, match="is not empty and holds no run"):
        begin(str(tmp_path), {}, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_run_that_is_begun_beside_another_leaves_the_others_lock(kept: Path) -> None:
    other = resume(str(kept))

    with pytest.raises(InUse, match="is in use by another run"):
        resume(str(kept))
    with pytest.raises(InUse, match="is in use by another run"):
        begin(str(kept), {}, 1)
    assert (kept / "lock").exists()
    other.close()


@pytest.mark.parametrize("name", ["manifest.json", "lock", "states"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link"])
def test_what_is_no_plain_file_is_refused_by_name_at_once(kept: Path, name: str, kind: str) -> None:
    if name == "states":
        name = read_manifest(storage_at(str(kept))).levels[2].files[0].name
    path = kept / name
    path.rename(kept.parent / "moved")
    told = f"{path} is "
    if kind == "pipe":
        os.mkfifo(path)
        told += "a pipe"
    elif kind == "device":
        # A device is made by root alone, and so is met through a link.
        path.symlink_to("/dev/zero")
        told += "a symbolic link"
    elif kind == "folder":
        path.mkdir()
        told += "a folder" if name != "manifest.json" else ""
    else:
        path.symlink_to(kept.parent / "moved")
        told += "a symbolic link"

    with pytest.raises(REFUSED) as refused:
        go_on(kept, 5)
    assert told in str(refused.value) or "its manifest.json is a folder" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_manifest_that_is_a_device_is_refused(kept: Path) -> None:
    """The run directory may lie anywhere, and its files may be devices where root made them."""
    (kept / "manifest.json").unlink()
    try:
        os.mknod(kept / "manifest.json", 0o20666, os.makedev(1, 5))
    except OSError:
        pytest.skip("only root makes devices, and not everywhere")

    with pytest.raises(REFUSED, match=r"manifest\.json is a device"):
        resume(str(kept))


def test_a_manifest_of_any_size_is_not_read_into_memory(kept: Path) -> None:
    with (kept / "manifest.json").open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(REFUSED, match=r"manifest\.json has 1,099,511,627,776 bytes.* at most"):
        resume(str(kept))


@pytest.mark.parametrize("depth", [2, 4], ids=["of a level to read", "of a level to write"])
def test_a_levels_folder_that_links_elsewhere_is_refused(kept: Path, depth: int) -> None:
    folder, elsewhere = kept / f"level-{depth:05d}", kept.parent / "elsewhere"
    if folder.exists():
        folder.rename(elsewhere)
    else:
        elsewhere.mkdir()
    folder.symlink_to(elsewhere)
    before = sorted(path.name for path in elsewhere.iterdir())

    with pytest.raises(REFUSED, match=rf"level-{depth:05d} is a symbolic link"):
        go_on(kept, 5)
    assert sorted(path.name for path in elsewhere.iterdir()) == before


def test_the_directory_itself_may_be_named_by_a_link(kept: Path) -> None:
    link = kept.parent / "link"
    link.symlink_to(kept)
    go_on(link, 5)

    assert len(read_manifest(storage_at(str(kept))).levels) == 6
