"""The language of the source: module docstrings in the active voice and the field's words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("checker", "counterexamples", "model", "waterline")
BANNED = re.compile(r"\b(whoever|told|there are not|one comes|is asked for what)\b", re.IGNORECASE)
MODULES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


@pytest.mark.parametrize("package", PACKAGES)
def test_module_docstrings_use_no_banned_word(package: str) -> None:
    docstrings = {
        path.relative_to(ROOT).as_posix(): ast.get_docstring(ast.parse(path.read_text())) or ""
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    found = {
        f"{name}: {match[0]}"
        for name, text in docstrings.items()
        for match in BANNED.finditer(text)
    }

    assert docstrings
    assert found == set()


def test_no_function_is_named_told_or_tell() -> None:
    names = {
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and re.match(r"_*(told|tell)(_|$)|_?Told", node.name)
    }

    assert names == set()


@pytest.mark.parametrize(
    ("text", "word"), [("Told in one line.", "Told"), ("For whoever asks.", "whoever")]
)
def test_a_banned_word_is_found(text: str, word: str) -> None:
    assert [match[0] for match in BANNED.finditer(text)] == [word]
