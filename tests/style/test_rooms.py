"""The picture of rooms is the one that the files make; the walks through them lead somewhere."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from docs.make.rooms import BEGIN, DOCUMENT, END, ROOT, made

TEXT = DOCUMENT.read_text(encoding="utf-8")
WALKS = re.findall(r"^## (From [^\n]*)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)


def test_the_picture_is_what_the_files_import() -> None:
    drawn = BEGIN + TEXT.split(BEGIN)[1].split(END)[0] + END

    assert drawn == made(), "run: python -m docs.make.rooms --write"


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
