"""A run's directory while a run uses it: begun or resumed, locked, committed to level by level.

Who is killed, holds no lock: the operating system lets go of it. On a storage that has no locks, a
run that was resumed elsewhere is noticed at the next commit, by its term.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from checker.store.manifest import (
    MANIFEST,
    BadRun,
    LevelFiles,
    Manifest,
    read_manifest,
    write_manifest,
)
from checker.store.storage import LocalStorage, Storage, storage_at

_LOCK = "lock"


class InUse(Exception):
    """Another run uses the directory."""


class RunDirectory:
    """The storage of one run, and its manifest, which `commit` moves on."""

    def __init__(self, storage: Storage, manifest: Manifest, lock: int | None) -> None:
        self.storage = storage
        self.manifest = manifest
        self._lock = lock

    @property
    def prefix(self) -> str:
        """What names of files begin with that this term writes."""
        return f"t{self.manifest.term}"

    def commit(self, level: LevelFiles, account: Mapping[str, Any]) -> None:
        """A level is finished. Raises `InUse` if another run has taken over."""
        if self._lock is None and read_manifest(self.storage).term != self.manifest.term:
            raise InUse(f"another run has resumed {self.storage.location}; this one has ended")
        self.manifest = self.manifest.with_level(level, account)
        write_manifest(self.storage, self.manifest)

    def finish(self) -> None:
        """Every reachable state has been explored."""
        self.manifest = replace(self.manifest, complete=True)
        write_manifest(self.storage, self.manifest)

    def close(self) -> None:
        """Let go of the directory, and of what no commit names."""
        if isinstance(self.storage, LocalStorage):
            _remove_leftovers(self.storage.root, self.manifest)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def begin(location: str, identity: Mapping[str, Any], words: int) -> RunDirectory:
    """A new run in an empty or new place. Raises `InUse`, `BadRun` or `BadLocation`."""
    storage = storage_at(location, durable=True)
    lock = _locked(storage)
    try:
        if storage.exists(MANIFEST):
            raise BadRun(
                f"{storage.location} holds a run already; continue it with --resume, "
                "or name an empty directory"
            )
        manifest = Manifest(identity=identity, words=words)
        write_manifest(storage, manifest)
    except BaseException:
        _unlock(lock)
        raise
    return RunDirectory(storage, manifest, lock)


def resume(location: str) -> RunDirectory:
    """A run to go on with, in a new term. Raises `InUse`, `BadRun`, `Damaged` or `BadLocation`."""
    storage = storage_at(location, durable=True)
    manifest = read_manifest(storage)
    lock = _locked(storage)
    try:
        manifest = read_manifest(storage)
        manifest = replace(manifest, term=manifest.term + 1, complete=False)
        write_manifest(storage, manifest)
    except BaseException:
        _unlock(lock)
        raise
    return RunDirectory(storage, manifest, lock)


def _locked(storage: Storage) -> int | None:
    """The lock of a local directory."""
    if not isinstance(storage, LocalStorage):
        return None
    storage.root.mkdir(parents=True, exist_ok=True)
    lock = os.open(storage.root / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(lock, 100).decode(errors="replace").strip()
        os.close(lock)
        raise InUse(
            f"{storage.location} is in use by another run ({holder or 'unknown'}); "
            "wait for its end, or name another directory"
        ) from None
    os.ftruncate(lock, 0)
    os.write(lock, f"process {os.getpid()} on {os.uname().nodename}\n".encode())
    return lock


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def _remove_leftovers(root: Path, manifest: Manifest) -> None:
    """Merged runs, spilled candidates, and files of levels that were never finished."""
    kept = {file.name for level in manifest.levels for file in level.files}
    for name in ("visited", "candidates"):
        shutil.rmtree(root / name, ignore_errors=True)
    for path in root.glob("level-*/*"):
        if path.relative_to(root).as_posix() not in kept:
            path.unlink(missing_ok=True)
    for path in root.glob(".writing-*"):
        path.unlink(missing_ok=True)
