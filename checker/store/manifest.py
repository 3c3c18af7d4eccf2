"""The manifest of a run: what was being checked, and everything known after each finished level.

One JSON file, replaced at once when a level is finished. What it does not name does not exist: a
level that was cut off left files that nobody will read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from checker.store.storage import Damaged, StateFile, Storage

FORMAT = "waterline-run/1"
MANIFEST = "manifest.json"


class BadRun(Exception):
    """A directory holds no run that can be continued here; the message says why."""


@dataclass(frozen=True, slots=True)
class LevelFiles:
    """A finished level: how many states, who explored it, and its files.

    Every file is sorted by hash. `owners` is how many equal ranges of hashes the files stand for, a
    file for each that is not empty; 0 where one file holds all.
    """

    depth: int
    states: int
    on: str
    owners: int
    files: tuple[StateFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """All of it. `identity` is what must be the same for a run to go on; `account` what the loop
    has added up after the last of `levels`, as plain values. `term` counts how often the run was
    begun or resumed: files of an earlier term that are not listed here are leftovers.
    """

    identity: Mapping[str, Any]
    words: int
    term: int = 1
    complete: bool = False
    levels: tuple[LevelFiles, ...] = ()
    account: Mapping[str, Any] = field(default_factory=dict)

    def with_level(self, level: LevelFiles, account: Mapping[str, Any]) -> Manifest:
        """The manifest after one more level."""
        return replace(self, levels=(*self.levels, level), account=account)


def write_manifest(storage: Storage, manifest: Manifest) -> None:
    """Commit: from now on this is what the run consists of."""
    values = {"format": FORMAT, **asdict(manifest)}
    for level in values["levels"]:
        level["files"] = [[f["name"], f["rows"], f["crc"]] for f in level["files"]]
    storage.write_text(MANIFEST, json.dumps(values, separators=(",", ":")) + "\n")


def read_manifest(storage: Storage) -> Manifest:
    """The last commit. Raises `BadRun` or `Damaged`."""
    where = f"{storage.location}/{MANIFEST}"
    try:
        text = storage.read_text(MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        raise BadRun(f"{storage.location} holds no run: there is no {MANIFEST}") from None
    except UnicodeDecodeError:
        raise Damaged(f"{where} is damaged: it is no text") from None
    try:
        values = json.loads(text)
        found = values.pop("format")
        if found != FORMAT:
            raise BadRun(f"{where} has format {found!r}; this version reads {FORMAT!r}")
        levels = tuple(_level(level, where) for level in values.pop("levels"))
        manifest = Manifest(levels=levels, **values)
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        raise Damaged(f"{where} is damaged: {problem}") from None
    _require_levels(manifest, where)
    return manifest


def _level(values: dict[str, Any], where: str) -> LevelFiles:
    files = []
    for name, rows, crc in values.pop("files"):
        if not isinstance(name, str) or name.startswith("/") or ".." in name.split("/"):
            raise Damaged(f"{where} names a file outside the run: {name!r}")
        files.append(StateFile(name, int(rows), int(crc)))
    return LevelFiles(files=tuple(files), **values)


def _require_levels(manifest: Manifest, where: str) -> None:
    """Levels follow each other, and their files hold what they should."""
    if [level.depth for level in manifest.levels] != list(range(len(manifest.levels))):
        raise Damaged(f"{where} is damaged: its levels do not follow each other")
    for level in manifest.levels:
        if sum(file.rows for file in level.files) != level.states:
            raise Damaged(f"{where} is damaged: level {level.depth} does not add up")
