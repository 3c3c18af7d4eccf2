"""Manifest of a run: its identity, and the account after each level.

One JSON file, replaced at once when a level is finished. A file that it does not name does not
exist: those of an interrupted level are never read. It begins with a checksum of the rest, so a
damaged or edited manifest is refused. A schema is checked as well; an error names the field that
this program would not write.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import msgspec

from waterline.checker.problem.errors import Refused
from waterline.checker.storage.plain_files import ALL_OWNERS, LevelFiles, StateFile
from waterline.checker.storage.storage import Damaged, Storage

FORMAT = "waterline-run/2"
MANIFEST = "manifest.json"
_SEALED = re.compile(r'\{"sha256":"([0-9a-f]{64})",(.*)\}\n', re.DOTALL)
_STATED_FORMAT = re.compile(r'"format": ?"([^"]{1,60})"')
_STATED_ATTEMPT = re.compile(r'"attempt":"([^"]{1,60})"')
_FILE_NAME = re.compile(r"level-(\d{5,})/[0-9A-Za-z-]+\.states")
_ATTEMPT = re.compile(r"t(\d+)-[0-9a-f]{8}")


class BadRun(Refused):
    """A directory holds no run that can be continued here; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """All of it. `identity` is what must be the same for a run to go on; `account` what the loop
    has added up after the last of `levels`, as plain values. `term` counts how often the run was
    begun or resumed; `attempt` names the process that did so last, and no other ever.
    """

    identity: Mapping[str, Any]
    words: int
    term: int = 1
    attempt: str = ""
    complete: bool = False
    levels: tuple[LevelFiles, ...] = ()
    account: Mapping[str, Any] | None = None

    def with_level(self, level: LevelFiles, account: Mapping[str, Any]) -> Manifest:
        """The manifest after one more level."""
        return replace(self, levels=(*self.levels, level), account=account)


_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
_Number = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
_State = Annotated[list[Annotated[int, msgspec.Meta(ge=0)]], msgspec.Meta(min_length=1)]


class _Struct(msgspec.Struct, forbid_unknown_fields=True):
    """Base of the manifest's records. Refuses unknown fields: this program never writes them."""


class _File(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    name: str
    rows: Annotated[int, msgspec.Meta(ge=0, lt=1 << 48)]
    crc: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]
    owner: Annotated[int, msgspec.Meta(ge=ALL_OWNERS, lt=1 << 31)]


class _Level(_Struct):
    depth: _Number
    states: Annotated[int, msgspec.Meta(ge=1, lt=1 << 48)]
    on: Annotated[str, msgspec.Meta(max_length=20, pattern=r"^[a-z]+$")]
    owners: Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
    files: Annotated[list[_File], msgspec.Meta(min_length=1)]


class _Identity(_Struct):
    model: str
    protocol: str
    bounds: dict[str, bool | int | str]
    invariants: list[str]
    symmetry: str
    layout: str
    rules: str
    program: str


class _Account(_Struct):
    broken: dict[str, tuple[_Number, _State]]
    fired: dict[str, _Count]
    cut: dict[str, dict[str, _Count]]
    happened_at: dict[str, Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]]
    deadlock: tuple[_Number, _State] | None
    seconds: _Seconds
    level_seconds: list[_Seconds]


class _Body(_Struct):
    format: str
    identity: _Identity
    words: Annotated[int, msgspec.Meta(ge=1, le=64)]
    term: Annotated[int, msgspec.Meta(ge=1)]
    attempt: str
    complete: bool
    levels: list[_Level]
    account: _Account | None


def write_manifest(storage: Storage, manifest: Manifest) -> None:
    """Commit: from now on this is what the run consists of.

    The files that it names survive a power loss before it does.
    """
    values = {"format": FORMAT, **asdict(manifest)}
    for level in values["levels"]:
        level["files"] = [[f["name"], f["rows"], f["crc"], f["owner"]] for f in level["files"]]
    storage.write_text(MANIFEST, seal(json.dumps(values, separators=(",", ":"))))


def seal(text: str) -> str:
    """A JSON object's text with a checksum of the rest as its first value."""
    rest = text.removeprefix("{").removesuffix("}")
    return f'{{"sha256":"{_seal(rest)}",{rest}}}\n'


def read_manifest(storage: Storage) -> Manifest:
    """The last commit. Raises `BadRun` or `Damaged`."""
    where = f"{storage.location}/{MANIFEST}"
    try:
        text = storage.read_text(MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        raise BadRun(f"{storage.location} holds no run: there is no {MANIFEST}") from None
    except IsADirectoryError:
        raise BadRun(f"{storage.location} holds no run: its {MANIFEST} is a folder") from None
    except UnicodeDecodeError:
        raise Damaged(f"{where} is damaged: it is no text") from None
    found = _SEALED.fullmatch(text)
    if found is None or _seal(found[2]) != found[1]:
        _require_format(text, where)
        raise Damaged(
            f"{where} is damaged, or was edited: its checksum differs; "
            "restore it, or begin the run anew in another directory"
        )
    try:
        body = msgspec.json.decode(text.encode(), type=_Sealed)
    except RecursionError:
        raise Damaged(f"{where} is damaged: it is nested too deeply") from None
    except msgspec.DecodeError as problem:
        _require_format(text, where)
        raise Damaged(f"{where} is damaged: {problem}") from None
    if body.format != FORMAT:
        raise _other_format(body.format, where)
    manifest = _manifest(body)
    _require_consistent(manifest, where)
    return manifest


class _Sealed(_Body, kw_only=True):
    sha256: str


def attempt_of(storage: Storage) -> str | None:
    """Whose the run is, without a look at the rest; None where that cannot be reported."""
    try:
        found = _STATED_ATTEMPT.search(storage.read_text(MANIFEST))
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return found[1] if found else None


def is_level_file(name: str) -> bool:
    """True if a file of new states could have this name."""
    return _FILE_NAME.fullmatch(name) is not None


def _seal(rest: str) -> str:
    return hashlib.sha256(rest.encode()).hexdigest()


def _require_format(text: str, where: str) -> None:
    """Refuse a manifest of another format, by name: its checksum differs, or is absent."""
    stated = _STATED_FORMAT.search(text[:400])
    if stated is not None and stated[1].startswith("waterline-run/") and stated[1] != FORMAT:
        raise _other_format(stated[1], where)


def _other_format(found: str, where: str) -> BadRun:
    return BadRun(
        f"{where} has format {found!r}; this version reads {FORMAT!r}: "
        "go on with the version that wrote it, or begin anew in another directory"
    )


def _manifest(body: _Body) -> Manifest:
    values = msgspec.to_builtins(body)
    levels = tuple(
        LevelFiles(
            level.depth,
            level.states,
            level.on,
            level.owners,
            tuple(StateFile(file.name, file.rows, file.crc, file.owner) for file in level.files),
        )
        for level in body.levels
    )
    return Manifest(
        identity=values["identity"],
        words=body.words,
        term=body.term,
        attempt=body.attempt,
        complete=body.complete,
        levels=levels,
        account=values["account"],
    )


def _require_consistent(manifest: Manifest, where: str) -> None:
    """Check what no single field shows: levels follow each other, and files add up to them."""

    def damage(what: str) -> Damaged:
        return Damaged(f"{where} is damaged: {what}")

    attempt = _ATTEMPT.fullmatch(manifest.attempt)
    if attempt is None or int(attempt[1]) != manifest.term:
        raise damage(f"attempt is {manifest.attempt!r} in term {manifest.term}")
    if manifest.complete and not manifest.levels:
        raise damage("it is complete without a level")
    counted = len(manifest.account["level_seconds"]) if manifest.account else 0
    if counted != len(manifest.levels):
        raise damage(f"account.level_seconds has {counted} levels of {len(manifest.levels)}")
    names: set[str] = set()
    for depth, level in enumerate(manifest.levels):
        if level.depth != depth:
            raise damage(f"levels[{depth}].depth is {level.depth}: they do not follow each other")
        if sum(file.rows for file in level.files) != level.states:
            raise damage(f"levels[{depth}].states is {level.states}: it does not add up")
        for number, file in enumerate(level.files):
            field_name = f"levels[{depth}].files[{number}]"
            named = _FILE_NAME.fullmatch(file.name)
            if named is None or int(named[1]) != depth:
                raise damage(f"{field_name} is {file.name!r}, which is no file of this level")
            if file.name in names:
                raise damage(f"{field_name} is {file.name!r}, which is named twice")
            names.add(file.name)
            owners = range(level.owners) if level.owners else (ALL_OWNERS,)
            if file.owner not in owners:
                raise damage(f"{field_name} has owner {file.owner} of {level.owners}")
        if level.owners == 0 and len(level.files) != 1:
            raise damage(f"levels[{depth}] has no owners and {len(level.files)} files")
