"""A manifest is read as it was written, or refused by name: nothing in it is taken on trust."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waterline.checker.checking.run import run
from waterline.checker.kafka.families import family_of, problem_for
from waterline.checker.search.account import Account
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.identity import account_of, identity_of, problem_of
from waterline.checker.search.search import Budgets
from waterline.checker.storage import manifest as manifest_module
from waterline.checker.storage.manifest import (
    BadRun,
    Manifest,
    attempt_of,
    read_manifest,
    seal,
    write_manifest,
)
from waterline.checker.storage.plain_files import LevelFiles, StateFile
from waterline.checker.storage.run_directory import begin
from waterline.checker.storage.storage import Damaged, RemoteStorage, Storage, storage_at
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.environment import Environment

Values = dict[str, Any]
REFUSED = (BadRun, Damaged, BadEnvironment)


@pytest.fixture(params=["directory", "pyarrow"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "directory":
        return storage_at(f"{tmp_path}/run")
    return RemoteStorage(f"file://{tmp_path}/run")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run: 13 levels, with violations."""
    folder = tmp_path_factory.mktemp("kept") / "run"
    problem = problem_for("hw", Environment())
    directory = begin(str(folder), identity_of(problem), problem.model.layout.words)
    run(problem, EngineChoice(name="local"), directory=directory, budgets=Budgets(max_depth=12))
    directory.close()
    return folder


@pytest.fixture(scope="module")
def text(kept: Path) -> str:
    return (kept / "manifest.json").read_text()


def opened(storage: Storage) -> tuple[Manifest, Account]:
    """What a resume makes of it before it explores anything."""
    manifest = read_manifest(storage)
    problem = problem_of(manifest.identity, storage.location, family_of)
    return manifest, account_of(problem, manifest)


def resealed(text: str, change: Callable[[Values], object]) -> str:
    """The manifest after a change by somebody who made the checksum anew."""
    values = json.loads(text)
    del values["sha256"]
    change(values)
    return seal(json.dumps(values, separators=(",", ":")))


def test_a_manifest_is_read_as_it_was_written(storage: Storage) -> None:
    manifest = Manifest(
        identity={
            "model": "m",
            "protocol": "p",
            "bounds": {"records": 2, "unclean": False, "acks": "all"},
            "invariants": ["sane"],
            "symmetry": "none",
            "layout": "l",
            "rules": "r",
            "program": "p",
        },
        words=2,
        term=3,
        attempt="t3-0123abcd",
    ).with_level(
        LevelFiles(0, 3, "disk", 4, (StateFile("level-00000/t1-0123abcd-00002.states", 3, 7, 2),)),
        {
            "broken": {"sane": [0, [1, 2**64 - 1]]},
            "fired": {},
            "cut": {"Move": {"moves": 3}},
            "happened_at": {},
            "deadlock": None,
            "seconds": 1.25,
            "level_seconds": [1.25],
        },
    )
    write_manifest(storage, manifest)

    found = read_manifest(storage)

    assert found.levels == manifest.levels
    assert found.identity == manifest.identity
    assert found.account is not None
    assert json.dumps(found.account) == json.dumps(manifest.account)
    assert (found.words, found.term, found.attempt) == (2, 3, "t3-0123abcd")
    assert attempt_of(storage) == "t3-0123abcd"


def test_a_real_one_opens(kept: Path) -> None:
    manifest, account = opened(storage_at(str(kept)))

    assert [level.states for level in manifest.levels] == [level.states for level in account.levels]
    assert account.broken


def test_a_flipped_bit_is_noticed_wherever_it_is(text: str, tmp_path: Path) -> None:
    """In every byte of the beginning, which has a field of each kind; then in every eighth."""
    storage = storage_at(str(tmp_path))
    data = text.encode()
    places = [*range(0, 8 * 600, 7), *range(8 * 600, 8 * len(data), 61)]
    for place in places:
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        (tmp_path / "manifest.json").write_bytes(flipped)
        with pytest.raises((BadRun, Damaged)):
            read_manifest(storage)


@pytest.mark.parametrize("length", [0, 1, 80, 700, -1])
def test_every_cut_is_noticed(text: str, tmp_path: Path, length: int) -> None:
    (tmp_path / "manifest.json").write_text(text[:length])

    with pytest.raises(Damaged, match="its checksum differs"):
        read_manifest(storage_at(str(tmp_path)))


def test_what_was_edited_by_hand_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(text.replace('"restarts":2', '"restarts":3'))

    with pytest.raises(Damaged, match="damaged, or was edited: its checksum differs"):
        read_manifest(storage_at(str(tmp_path)))


@pytest.mark.parametrize("found", ["waterline-run/1", "waterline-run/9"])
def test_another_format_is_named(text: str, tmp_path: Path, found: str) -> None:
    (tmp_path / "manifest.json").write_text(text.replace("waterline-run/2", found))

    with pytest.raises(BadRun, match=f"has format '{found}'; this version reads 'waterline-run/2'"):
        read_manifest(storage_at(str(tmp_path)))


def put(path: str, value: object) -> Callable[[Values], None]:
    """Set levels[3].states and the like."""
    *parts, last = [int(part) if part.lstrip("-").isdigit() else part for part in path.split(".")]

    def change(values: Any) -> None:
        for part in parts:
            values = values[part]
        values[last] = value

    return change


CHANGES: list[tuple[Callable[[Values], object], str]] = [
    (put("levels.3.depth", 4), r"levels\[3\]\.depth is 4: they do not follow"),
    (put("levels.3.states", 2), r"levels\[3\]\.states is 2: it does not add up"),
    (put("levels.3.states", "2"), r"Expected `int`, got `str` - at `\$\.levels\[3\]\.states`"),
    (put("levels.3.states", 1e999), r"JSON is malformed|at `\$\.levels\[3\]\.states`"),
    (put("levels.3.owners", -1), r"at `\$\.levels\[3\]\.owners`"),
    (put("levels.3.owners", 2), r"levels\[3\]\.files\[0\] has owner -1 of 2"),
    (put("levels.3.files", []), r"at `\$\.levels\[3\]\.files`"),
    (put("levels.3.files.0.0", "level-00003/../../x.states"), "is no file of this level"),
    (put("levels.3.files.0.0", "/etc/passwd"), "is no file of this level"),
    (put("levels.3.files.0.0", "level-00004/t1-0123abcd-all.states"), "is no file of this"),
    (put("levels.3.files.0.1", -5), r"at `\$\.levels\[3\]\.files\[0\]\[1\]`"),
    (put("levels.3.files.0.2", 1 << 40), r"at `\$\.levels\[3\]\.files\[0\]\[2\]`"),
    (lambda v: v["levels"].pop(), r"account\.level_seconds has 13 levels of 12"),
    (lambda v: v.update(levels=[]), r"account\.level_seconds has 13 levels of 0"),
    (put("words", 0), r"at `\$\.words`"),
    (put("words", None), r"at `\$\.words`"),
    (put("term", 7), r"attempt is 't1-[0-9a-f]+' in term 7"),
    (put("attempt", "../x"), r"attempt is '\.\./x' in term 1"),
    (put("identity.rules", 5), r"at `\$\.identity\.rules`"),
    (put("identity.bounds.restarts", 1.5), r"at `\$\.identity\.bounds"),
    (put("identity.more", 1), "unknown field `more`"),
    (put("account.seconds", -1.0), r"at `\$\.account\.seconds`"),
    (put("account.fired.Fly", 5), r"fired\.Fly: nothing of this problem has this name"),
    (put("account.fired.Learn", -5), r"at `\$\.account\.fired"),
    (put("account.fired.Learn", True), r"at `\$\.account\.fired"),
    (put("account.cut", {"Learn": {"bears": 1}}), r"cut\.Learn\.bears: nothing of this"),
    (put("account.broken", {"fun": [1, [1, 2]]}), r"broken\.fun: nothing of this problem"),
    (put("account.broken", {"sane": [99, [1, 2]]}), r"broken\.sane is at depth 99, beyond"),
    (put("account.broken", {"sane": [1, [1]]}), r"broken\.sane has a state that is not of 2"),
    (put("account.broken", {"sane": [1, [1, 1 << 64]]}), r"sane has a state that is not of 2"),
    (put("account.fired", {}), "fired adds up to 0 transitions, which cannot lead to"),
    (put("account.happened_at", {"record_commits": 50}), "record_commits is at depth 50"),
]


@pytest.mark.parametrize(("change", "says"), CHANGES, ids=map(str, range(len(CHANGES))))
def test_what_cannot_be_is_refused_by_name_also_with_a_new_checksum(
    change: Callable[[Values], object], says: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "manifest.json").write_text(resealed(text, change))

    with pytest.raises((BadRun, Damaged), match=says):
        opened(storage_at(str(tmp_path)))


def test_what_is_nested_deeply_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(seal('{"format":' + "[" * 100_000 + "}"))

    with pytest.raises(Damaged, match=r"is damaged"):
        read_manifest(storage_at(str(tmp_path)))


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_no_edit_ends_in_an_error_without_a_name(
    data: st.DataObject, text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert_an_edit_is_refused_by_name(data, text, tmp_path_factory.mktemp("edited"))


def assert_an_edit_is_refused_by_name(data: st.DataObject, text: str, folder: Path) -> None:
    """Whatever is put in the place of any value: it is refused by name, or it means something."""
    values = json.loads(text)
    del values["sha256"]
    at, inner = values, data.draw(st.sampled_from(list(values)))
    while isinstance(at[inner], (dict, list)) and at[inner] and data.draw(st.booleans()):
        at = at[inner]
        inner = data.draw(st.sampled_from(list(at) if isinstance(at, dict) else range(len(at))))
    at[inner] = data.draw(
        st.one_of(
            st.none(),
            st.booleans(),
            st.integers(),
            st.integers(-3, 300),
            st.floats(),
            st.text(max_size=5),
            st.lists(st.integers(), max_size=3),
            st.just({}),
            st.just([]),
        )
    )
    (folder / "manifest.json").write_text(seal(json.dumps(values, separators=(",", ":"))))

    with suppress(*REFUSED):
        opened(storage_at(str(folder)))


def test_nothing_that_this_program_writes_is_refused(kept: Path, tmp_path: Path) -> None:
    manifest = read_manifest(storage_at(str(kept)))
    again = storage_at(str(tmp_path))
    write_manifest(again, manifest)

    assert read_manifest(again) == manifest
    assert manifest_module.is_level_file(manifest.levels[3].files[0].name)
