"""English that a native engineer would write: patterns of translated prose only become fewer."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.style.test_words import DOCUMENTS, prose_of

ROOT = Path(__file__).parents[2]
PACKAGES = ("checker", "counterexamples", "invariants", "model", "waterline")
PATTERNS = {
    "begins with What": r"\AWhat\b",
    "nobody, somebody": r"\b(nobody|somebody|anybody|some ?one)\b",
    "of which": r"\b(at|behind|beside|by|from|in|of|to|under|with) which\b",
    "told, is asked, is said": r"\b(is|are|was|were|be|been|being) (asked|said)\b|\btold\b",
    "is no": r"\b(is|are) no (?!longer|more)\w+",
    "beside": r"\bbeside\b",
    "for ever": r"\bfor ever\b",
    "whom": r"\b(whom|whoever)\b",
}
DOCSTRINGS_MAX = {
    "begins with What": 0,
    "nobody, somebody": 0,
    "of which": 0,
    "told, is asked, is said": 0,
    "is no": 0,
    "beside": 1,
    "for ever": 0,
    "whom": 0,
}
"""How many docstrings may have each. A number only goes down."""
DOCUMENTS_MAX = {
    "begins with What": 0,
    "nobody, somebody": 0,
    "of which": 33,
    "told, is asked, is said": 0,
    "is no": 0,
    "beside": 0,
    "for ever": 0,
    "whom": 0,
}
"""How often sentences of documents may have each. A number only goes down."""
_THERE_IS_NO = re.compile(r"\bthere (is|are) no\b", re.IGNORECASE)


def docstrings() -> Iterator[tuple[str, str]]:
    """The place and the text of each docstring, also of constants and fields."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                match node:
                    case ast.Expr(value=ast.Constant(value=str(text))):
                        yield f"{path.relative_to(ROOT)}:{node.lineno}", text


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """The places with each pattern."""
    places: dict[str, list[str]] = {name: [] for name in PATTERNS}
    for place, text in docstrings():
        for name, pattern in PATTERNS.items():
            if re.search(pattern, text, re.IGNORECASE if name != "begins with What" else 0):
                places[name].append(place)
    return places


def sentences(prose: str) -> list[str]:
    """The sentences of a text on one line, without what is English with a pattern's words."""
    return re.split(r"(?<=[.!?:]) ", _THERE_IS_NO.sub("", prose))


@pytest.fixture(scope="module")
def written() -> dict[str, list[str]]:
    """The sentences of documents with each pattern."""
    places: dict[str, list[str]] = {name: [] for name in PATTERNS}
    for path in DOCUMENTS:
        for sentence in sentences(prose_of(path.read_text(encoding="utf-8"))):
            for name, pattern in PATTERNS.items():
                if re.search(pattern, sentence, re.IGNORECASE if name != "begins with What" else 0):
                    places[name].append(f"{path.name}: {sentence[:200]}")
    return places


@pytest.mark.parametrize("name", PATTERNS)
def test_documents_have_fewer_of_it_and_never_more(
    name: str, written: dict[str, list[str]]
) -> None:
    assert len(written[name]) <= DOCUMENTS_MAX[name], "\n".join(written[name])


def test_a_sentence_begins_after_a_full_stop_and_there_may_be_no_leader() -> None:
    assert sentences("There is no leader. What then? None.") == [" leader.", "What then?", "None."]


@pytest.mark.parametrize("name", PATTERNS)
def test_docstrings_have_fewer_of_it_and_never_more(name: str, found: dict[str, list[str]]) -> None:
    assert len(found[name]) <= DOCSTRINGS_MAX[name], "\n".join(found[name])


def test_a_pattern_is_seen_in_any_docstring() -> None:
    seen = Counter(
        name
        for text in ("What it is.", "Nobody is told of which.", "It is no text beside it.")
        for name, pattern in PATTERNS.items()
        if re.search(pattern, text, re.IGNORECASE)
    )

    assert seen == {
        "begins with What": 1,
        "nobody, somebody": 1,
        "told, is asked, is said": 1,
        "of which": 1,
        "is no": 1,
        "beside": 1,
    }
