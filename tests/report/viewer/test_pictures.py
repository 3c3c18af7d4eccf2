"""The pictures in docs/pictures/ show what the viewer shows, and fetch nothing."""

from __future__ import annotations

import html
import re

import pytest

from lab.documents.pictures import PICTURED, PICTURES, drawn


def words(svg: str) -> str:
    """What is written on a screen, line by line."""
    lines: dict[float, str] = {}
    for y, text in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        lines[float(y)] = lines.get(float(y), "") + html.unescape(text)
    return "\n".join(lines[y] for y in sorted(lines))


@pytest.mark.parametrize("name", PICTURED)
def test_a_picture_is_the_screen_of_now(name: str) -> None:
    kept = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")

    assert words(kept) == words(drawn(name)), "run: python -m lab.documents.pictures"
    assert f"step\N{NO-BREAK SPACE}{PICTURED[name].step}\N{NO-BREAK SPACE}of" in words(kept)


@pytest.mark.parametrize("name", PICTURED)
def test_a_picture_fetches_nothing(name: str) -> None:
    kept = (PICTURES / f"{name}.svg").read_text(encoding="utf-8")
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", kept))

    assert "<script" not in kept
    assert "@font-face" not in kept
    assert set(re.findall(r"url\((.)", kept)) <= {"#"}
    # A name space, and a comment.
    assert addresses <= {"http://www.w3.org/2000/svg", "https://www.textualize.io"}
