"""Run directory: begun or resumed, locked, committed level by level.

Each beginning or resumption of a run is an attempt, with a unique name. All files that it writes
carry its name, and a file is read only because the manifest names it, or because this attempt has
had it written. So the files of a killed attempt are never mistaken for others. They are removed
when the directory is opened the next time.

A killed process holds no lock: the operating system releases it. On a storage that has no locks, a
run that was resumed elsewhere is noticed at the next commit, by the name in the manifest.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from waterline.checker.problem.errors import Refused
from waterline.checker.storage.disk_calls import ASIDE
from waterline.checker.storage.manifest import (
    MANIFEST,
    BadRun,
    Manifest,
    attempt_of,
    is_level_file,
    read_manifest,
    write_manifest,
)
from waterline.checker.storage.plain_files import LevelFiles, open_plain
from waterline.checker.storage.storage import Damaged, LocalStorage, Storage, storage_at

_LOCK = "lock"
_LOCK_BYTES_MAX = 1000
_WRITTEN_LOCK = re.compile(rb"(process \d+ on [^\n]*\n?)?")
"""Contents of a lock. The host's name may be truncated if the write was cut short."""
_WORK = "work-"
"""Prefix of folders that hold an attempt's merged runs and spilled candidates."""


class InUse(Refused):
    """Another run uses the directory."""


class RunDirectory:
    """The storage of one run, and its manifest, which `commit` moves on."""

    def __init__(self, storage: Storage, manifest: Manifest, lock: int | None) -> None:
        self.storage = storage
        self.manifest = manifest
        self._lock = lock

    @property
    def attempt(self) -> str:
        """Prefix of the names of all files that this attempt writes."""
        return self.manifest.attempt

    @property
    def work(self) -> str:
        """The folder of what is of no use to any other attempt."""
        return f"{_WORK}{self.attempt}"

    def commit(self, level: LevelFiles, account: Mapping[str, Any]) -> None:
        """A level is finished. Raises `InUse` if another run has taken over."""
        self._require_ours()
        self.storage.settle(file.name for file in level.files)
        self._replace(self.manifest.with_level(level, account))

    def finish(self) -> None:
        """Every reachable state has been explored. Raises `InUse` as `commit`."""
        self._require_ours()
        self._replace(replace(self.manifest, complete=True))

    def close(self) -> None:
        """Let go of the directory, and of what no commit names."""
        try:
            # One that is gone or damaged is reported when it is opened next.
            with suppress(OSError, BadRun, Damaged):
                now = read_manifest(self.storage)
                _remove_leftovers(self.storage, now, of=None if self.is_ours else self.attempt)
        finally:
            if self._lock is not None:
                os.close(self._lock)
                self._lock = None

    def _replace(self, manifest: Manifest) -> None:
        write_manifest(self.storage, manifest)
        self.manifest = manifest

    @property
    def is_ours(self) -> bool:
        """True if no other attempt has taken over."""
        return attempt_of(self.storage) == self.attempt

    def _require_ours(self) -> None:
        """Raise `InUse` if the run is lost, even under a lock: a directory can be moved."""
        if not self.is_ours:
            raise InUse(f"another run has resumed {self.storage.location}; this one has ended")


def begin(location: str, identity: Mapping[str, Any], words: int) -> RunDirectory:
    """A new run in an empty or new place. Raises `InUse`, `BadRun` or `BadLocation`."""
    storage = storage_at(location, durable=True)
    if not storage.exists(MANIFEST):
        # Before anything is made: a directory that is refused stays as it is.
        _require_empty(storage)
    if isinstance(storage, LocalStorage):
        storage.make_root()
    lock = _lock(storage)
    try:
        if storage.exists(MANIFEST):
            raise BadRun(
                f"{storage.location} holds a run already; continue it with --resume, "
                "or name an empty directory"
            )
        _require_empty(storage)
        manifest = Manifest(identity=identity, words=words, attempt=_name_of_attempt(1))
        write_manifest(storage, manifest)
    except BaseException:
        _unlock(lock)
        raise
    return RunDirectory(storage, manifest, lock)


def _require_empty(storage: Storage) -> None:
    """See that a directory has nothing in it but what a killed beginning leaves."""
    foreign = next((name for name in storage.names() if not _is_of_a_beginning(name)), None)
    if foreign is not None:
        raise BadRun(
            f"{storage.location} is not empty and holds no run (it has {foreign}); "
            "name an empty or a new directory"
        )


def resume(location: str) -> RunDirectory:
    """A run to go on with, in a new term. Raises `InUse`, `BadRun`, `Damaged` or `BadLocation`."""
    storage = storage_at(location, durable=True)
    manifest = read_manifest(storage)
    lock = _lock(storage)
    try:
        manifest = read_manifest(storage)
        term = manifest.term + 1
        manifest = replace(manifest, term=term, attempt=_name_of_attempt(term), complete=False)
        write_manifest(storage, manifest)
        if lock is not None:
            # Elsewhere somebody may still be writing who has not noticed that he is superseded.
            _remove_leftovers(storage, manifest)
    except BaseException:
        _unlock(lock)
        raise
    return RunDirectory(storage, manifest, lock)


def _name_of_attempt(term: int) -> str:
    return f"t{term}-{secrets.token_hex(4)}"


def _is_aside(name: str) -> bool:
    """True if this is a file of a run, or of a level, that was not finished."""
    folder, _, file = name.rpartition("/")
    return file.startswith(ASIDE) and (not folder or folder.startswith("level-"))


def _is_of_a_beginning(name: str) -> bool:
    """True if a run that was killed before its first commit leaves a file of this name."""
    return name == _LOCK or name.startswith((ASIDE, f"{MANIFEST}.writing-"))


def _lock(storage: Storage) -> int | None:
    """The lock of a local directory. Raises `InUse`, `BadRun` or `Damaged`."""
    if not isinstance(storage, LocalStorage):
        return None
    lock = open_plain(storage.root, _LOCK, os.O_RDWR | os.O_CREAT)
    try:
        _require_lock(lock, storage.root / _LOCK)
        holder = os.read(lock, 100).decode(errors="replace").strip()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(
                f"{storage.location} is in use by another run ({holder or 'unknown'}); "
                "wait for its end, or name another directory"
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"process {os.getpid()} on {os.uname().nodename}\n".encode(), 0)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _require_lock(lock: int, path: Path) -> None:
    """See that a file is empty, or what a run wrote, and has no other name. Raises `BadRun`."""
    names = os.fstat(lock).st_nlink
    if names > 1:
        raise BadRun(
            f"{path} is a file with {names} names, and a run would overwrite it: "
            "remove this name, or name another directory"
        )
    if _WRITTEN_LOCK.fullmatch(os.pread(lock, _LOCK_BYTES_MAX, 0)) is None:
        raise BadRun(
            f"{path} is no lock of a run, and a run would overwrite it: "
            "move it elsewhere, or name another directory"
        )


def _unlock(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)


def _remove_leftovers(storage: Storage, manifest: Manifest, *, of: str | None = None) -> None:
    """Remove files of attempts that no commit names, or those of one attempt. Other files stay."""
    kept = {file.name for level in manifest.levels for file in level.files}
    work = set()
    for name in list(storage.names()):
        if of is not None and of not in name:
            continue
        top = name.split("/", 1)[0]
        if top.startswith(_WORK):
            work.add(top)
        elif name not in kept and (is_level_file(name) or _is_aside(name)):
            storage.delete([name])
    for folder in sorted(work):
        storage.remove_folder(folder)
