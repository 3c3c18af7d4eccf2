"""The pictures of rooms are those that the files make; the walks through them lead somewhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.documents.rooms import BEGIN, DOCUMENT, END, OVERVIEW, PARTS, ROOMS, ROOT, made, overview

TEXT = DOCUMENT.read_text(encoding="utf-8")
WALKS = re.findall(r"^## (From [^\n]*)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("document", "made"), [(OVERVIEW, overview), (DOCUMENT, made)])
def test_a_picture_is_what_the_files_import(document: Path, made: Callable[[], str]) -> None:
    drawn = BEGIN + document.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0] + END

    assert drawn == made(), "run: python -m lab.documents.rooms --write"


def test_every_room_is_in_one_part() -> None:
    parts_of = {
        room: [
            part
            for part, (_, folders) in PARTS.items()
            if any(f"{room}/".startswith(f"{folder}/") for folder in folders)
        ]
        for room in ROOMS
    }

    assert {room: found for room, found in parts_of.items() if len(found) != 1} == {}


def test_the_architecture_fits_a_screen() -> None:
    assert len(OVERVIEW.read_text(encoding="utf-8").splitlines()) <= 70


@pytest.mark.parametrize(("title", "walk"), WALKS)
def test_a_walk_names_each_file_once_and_all_of_them_exist(title: str, walk: str) -> None:
    stations = re.findall(r"^\d+\. (.*?)(?=^\d+\. |^$)", walk, re.MULTILINE | re.DOTALL)
    named = Counter(
        re.findall(r"`((?:model|checker|counterexamples|invariants)/[\w/]+\.py)`", walk)
    )

    assert len(stations) > 10
    assert not [name for name in named if not Path(ROOT / name).is_file()]
    assert set(named.values()) == {1}
    assert all(re.match(r"`[\w/]+\.py`", station) for station in stations)
