"""Who may use a run's directory, what belongs to which attempt, and what is removed when."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from waterline.checker.storage import run_directory
from waterline.checker.storage.manifest import BadRun, read_manifest
from waterline.checker.storage.plain_files import LevelFiles
from waterline.checker.storage.run_directory import InUse, RunDirectory, begin, resume
from waterline.checker.storage.storage import (
    BadLocation,
    LocalStorage,
    RemoteStorage,
    require_whole,
)

IDENTITY = {
    "model": "m",
    "protocol": "p",
    "bounds": {},
    "invariants": [],
    "symmetry": "none",
    "layout": "l",
    "rules": "r",
    "program": "p",
}


def with_level(directory: RunDirectory, value: int, *, commit: bool = True) -> LevelFiles:
    """One more level of `value` states, written as an engine does."""
    depth = len(directory.manifest.levels)
    rows = np.arange(value * 2, dtype=np.uint64).reshape(-1, 2)
    name = f"level-{depth:05d}/{directory.attempt}-all.states"
    level = LevelFiles(depth, value, "local", 0, (directory.storage.write(name, [rows]),))
    if commit:
        directory.commit(level, account(depth + 1))
    return level


def account(levels: int) -> dict[str, object]:
    return {
        "broken": {},
        "fired": {},
        "cut": {},
        "happened_at": {},
        "deadlock": None,
        "seconds": 1.0,
        "level_seconds": [1.0] * levels,
    }


@pytest.fixture
def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place is one that is reached through pyarrow, as an object store is."""
    monkeypatch.setattr(
        run_directory,
        "storage_at",
        lambda location, *, durable: RemoteStorage(f"file://{location}"),
    )


def test_no_two_attempts_have_a_name_in_common(tmp_path: Path) -> None:
    names = {begin(str(tmp_path / str(number)), IDENTITY, 2).attempt for number in range(50)}

    assert len(names) == 50


def test_files_carry_the_name_of_the_attempt_that_writes_them(tmp_path: Path) -> None:
    first = begin(str(tmp_path / "run"), IDENTITY, 2)
    with_level(first, 3)
    first.close()
    second = resume(str(tmp_path / "run"))
    with_level(second, 4)

    files = [file.name for level in second.manifest.levels for file in level.files]
    assert files == [
        f"level-00000/{first.attempt}-all.states",
        f"level-00001/{second.attempt}-all.states",
    ]
    assert first.attempt.startswith("t1-")
    assert second.attempt.startswith("t2-")
    assert second.work == f"work-{second.attempt}"


def test_what_a_killed_attempt_left_is_removed_when_the_directory_is_opened(tmp_path: Path) -> None:
    root = tmp_path / "run"
    killed = begin(str(root), IDENTITY, 2)
    kept = with_level(killed, 3)
    lost = with_level(killed, 5, commit=False)
    for name in (f"{killed.work}/candidates/ab/00001.states", f"{killed.work}/visited/x.states"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(bytes(16))
    (root / "level-00001" / ".writing-abc").write_bytes(b"half")
    (root / ".writing-def").write_bytes(b"half")
    (root / "notes.txt").write_text("of the user's own")
    (root / "level-00000" / "notes.txt").write_text("of the user's own")
    run_directory._unlock(killed._lock)

    directory = resume(str(root))

    left = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    assert left == sorted(
        ["level-00000/notes.txt", kept.files[0].name, "lock", "manifest.json", "notes.txt"]
    )
    assert not (root / killed.work).exists()
    assert lost.files[0].name not in left
    directory.close()


def test_a_place_that_holds_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").write_bytes(b"miaow")
    (tmp_path / "nested" / "empty").mkdir(parents=True)

    with pytest.raises(BadRun, match=r"photos is not empty and holds no run \(it has cat\.jpg\)"):
        begin(str(tmp_path / "photos"), IDENTITY, 2)
    with pytest.raises(BadRun, match=r"nested is not empty and holds no run \(it has empty/\)"):
        begin(str(tmp_path / "nested"), IDENTITY, 2)
    assert not (tmp_path / "photos" / "manifest.json").exists()


def test_a_run_that_was_killed_before_its_first_commit_can_be_begun_again(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / ".writing-abc").write_bytes(b"half a manifest")

    begin(str(tmp_path), IDENTITY, 2).close()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "manifest.json"]


@pytest.mark.parametrize("location", ["{}/run", "file://{}/run", "file://localhost{}/run"])
def test_a_directory_of_this_machine_is_locked_however_it_is_named(
    location: str, tmp_path: Path
) -> None:
    first = begin(location.format(tmp_path), IDENTITY, 2)

    for name in ("{}/run", "file://{}/run"):
        with pytest.raises(InUse, match="is in use by another run"):
            resume(name.format(tmp_path))
    first.close()
    assert isinstance(resume(location.format(tmp_path)).storage, LocalStorage)


@pytest.mark.parametrize("location", ["file://elsewhere/run", "file:"])
def test_a_uri_of_another_machine_is_refused(location: str) -> None:
    if location == "file:":
        location = "file://"
    with pytest.raises(BadLocation, match="names no folder of this machine"):
        begin(location, IDENTITY, 2)


def test_an_attempt_that_was_superseded_ends_at_its_next_level(
    tmp_path: Path, without_locks: None
) -> None:
    first = begin(f"{tmp_path}/run", IDENTITY, 2)
    with_level(first, 3)
    second = resume(f"{tmp_path}/run")
    with_level(second, 4)

    with pytest.raises(InUse, match="another run has resumed"):
        with_level(first, 9)
    with pytest.raises(InUse, match="another run has resumed"):
        first.finish()
    first.close()

    assert read_manifest(second.storage) == second.manifest
    assert sum(level.states for level in second.manifest.levels) == 7


Act = Callable[[dict[str, RunDirectory], Path], None]


def _opens(name: str) -> Act:
    def act(opened: dict[str, RunDirectory], root: Path) -> None:
        opened[name] = resume(f"{root}/run")

    return act


def _commits(name: str) -> Act:
    def act(opened: dict[str, RunDirectory], root: Path) -> None:
        with_level(opened[name], 3 + len(name))

    return act


def _closes(name: str) -> Act:
    def act(opened: dict[str, RunDirectory], root: Path) -> None:
        opened[name].close()

    return act


@pytest.mark.parametrize(
    "order", list(itertools.combinations(range(8), 4)), ids=lambda order: "".join(map(str, order))
)
def test_two_attempts_without_locks_leave_one_whole_run_in_any_order(
    order: tuple[int, ...], tmp_path: Path, without_locks: None
) -> None:
    """Each opens, commits twice and closes; all 70 ways in which these can follow each other."""
    begun = begin(f"{tmp_path}/run", IDENTITY, 2)
    with_level(begun, 2)
    acts = {
        name: iter((_opens(name), _commits(name), _commits(name), _closes(name)))
        for name in ("a", "bb")
    }
    opened: dict[str, RunDirectory] = {}
    ended: set[str] = set()
    for place in range(8):
        name = "a" if place in order else "bb"
        act = next(acts[name])
        if name in ended:
            continue
        try:
            act(opened, tmp_path)
        except InUse:
            ended.add(name)
            opened[name].close()

    storage = RemoteStorage(f"file://{tmp_path}/run")
    manifest = read_manifest(storage)
    for level in manifest.levels:
        for file in level.files:
            require_whole(storage, file, 2)
    assert len(ended) <= 1
    assert manifest.attempt in {directory.attempt for directory in opened.values()}
    assert [level.depth for level in manifest.levels] == list(range(len(manifest.levels)))
    named = {file.name for level in manifest.levels for file in level.files}
    assert {name for name in storage.names() if name.endswith(".states")} == named


@pytest.mark.parametrize("when", ["before", "between"])
def test_two_that_replace_the_manifest_at_one_moment_each_write_a_whole_one(
    when: str, tmp_path: Path, without_locks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one moment that comparing first leaves open: both have seen their own name."""
    first = begin(f"{tmp_path}/run", IDENTITY, 2)
    with_level(first, 2)
    writes = run_directory.write_manifest
    second: list[RunDirectory] = []

    def write_late(storage: object, manifest: object) -> None:
        if not second:
            second.append(RunDirectory(first.storage, first.manifest, None))
            second[0] = resume(f"{tmp_path}/run")
            if when == "between":
                with_level(second[0], 5)
        writes(storage, manifest)  # type: ignore[arg-type]

    monkeypatch.setattr(run_directory, "write_manifest", write_late)
    with_level(first, 3)

    with pytest.raises(InUse):
        with_level(second[0], 6)
    assert read_manifest(first.storage) == first.manifest
    with_level(first, 4)
    for level in first.manifest.levels:
        require_whole(first.storage, level.files[0], 2)
