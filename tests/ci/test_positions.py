"""Keys and values are found where they stand, whatever the spelling."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from waterline.checker.ci.document import parse
from waterline.checker.ci.positions import Path, place_at, spots_in

TEXT = """\
#:schema x.json
a = 1 # one
"b c".d = [ 1, "]", # a bracket
  { e = '''x
''' } ]
[[t]]
x = \"\"\"a ] \\" "" # no remark\"\"\"
[t.u]
y = 2024-01-01 10:00:00
[[t]]
x.z = {p = 1, 'q' = -2}
"""


def test_every_value_is_where_it_stands() -> None:
    spots = spots_in(TEXT)
    values = {path: TEXT[spot.start : spot.end] for path, spot in spots.items()}

    assert values["a",] == "1"
    assert values["b c", "d", 1] == '"]"'
    assert values["b c", "d", 2, "e"] == "'''x\n'''"
    assert values["t", 0, "x"] == '"""a ] \\" "" # no remark"""'
    assert values["t", 0, "u", "y"] == "2024-01-01 10:00:00"
    assert values["t", 1, "x", "z", "q"] == "-2"
    assert str(place_at(TEXT, spots["t", 1].key, "f")) == "f:10:1"
    assert str(place_at(TEXT, spots["t", 1, "x", "z", "q"].key, "f")) == "f:11:15"


PLAIN = st.one_of(st.booleans(), st.integers(-9, 99), st.text("a\"'\\\n#[]{}=,.", max_size=6))
NAMES = st.text("ab .\"'", min_size=1, max_size=4)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


def as_toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {as_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[ # array\n" + "".join(f"{as_toml(each)},\n" for each in value) + "]"
    return json.dumps(value)


def at(content: Any, path: Path) -> Any:
    for part in path:
        content = content[part]
    return content


@given(st.lists(st.dictionaries(NAMES, VALUES, max_size=3), min_size=1, max_size=3))
def test_what_stands_at_a_spot_is_the_value(tables: list[dict[str, Any]]) -> None:
    text = "".join(
        "[[t]]\n" + "".join(f"{json.dumps(k)}={as_toml(v)} # remark\n" for k, v in table.items())
        for table in tables
    )
    content = tomllib.loads(text)
    spots = {path: spot for path, spot in spots_in(text).items() if len(path) > 2}

    assert content == {"t": tables}
    assert len(spots) >= sum(map(len, tables))
    for path, spot in spots.items():
        assert tomllib.loads(f"v = {text[spot.start : spot.end]}")["v"] == at(content, path)


@pytest.mark.parametrize("text", ["\ufeffa = 1\n", "a = 1\r\n[[b]]\r\nc = 2\r\n"])
def test_lines_are_counted_alike_with_any_ending(text: str) -> None:
    document = parse(text.removeprefix("\ufeff"), "f")

    assert all(place_at(document.text, s.key, "f").column == 1 for s in document.spots.values())
