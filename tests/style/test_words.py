"""The language of source and documents: the active voice and the field's words."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("checker", "counterexamples", "model", "waterline")
BANNED = re.compile(r"\b(whoever|told|there are not|one comes|is asked for what)\b", re.IGNORECASE)
VERB_LAST = re.compile(
    r"\b(comes? to nothing|goes on for ever|what is (asked|said)|of one's own|as one likes|"
    r"one (likes|types|gets|chooses|swipes)|for who|is there not)\b",
    re.IGNORECASE,
)
"""Documents need not be in the words of the field, but in English."""
DOCUMENTS = [
    *(path for folder in (ROOT, ROOT / "docs") for path in sorted(folder.glob("*.md"))),
    *(ROOT / "docs" / "results" / name for name in ("catalogue.md", "fluss.md")),
]
"""Also of results/ what is written by hand."""
PAGES_MAX, WORDS_MAX = 24, 75_000
"""Of docs/, and of all documents but the three papers that have no part in it."""
_TABLE = re.compile(r"<!-- table: .*?<!-- end of table -->", re.DOTALL)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^ {4}.*$", re.MULTILINE)
_INLINE = re.compile(r"`[^`]*`|\"[^\"\n]*\"|(?<!\*)\*(?![ *])[^*\n]+\*(?!\*)")
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


def prose_of(text: str) -> str:
    """A document without tables that code makes, blocks, code and quotations."""
    for left_out in (_TABLE, _FENCED, _INDENTED, _INLINE):
        text = left_out.sub("", text)
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_put_the_subject_before_the_verb(path: Path) -> None:
    prose = prose_of(path.read_text(encoding="utf-8"))
    found = [
        prose[max(0, match.start() - 40) : match.end() + 20]
        for words in (BANNED, VERB_LAST)
        for match in words.finditer(prose)
    ]

    assert found == []


def test_recorded_output_and_code_are_no_prose() -> None:
    text = (
        'Who is told?\n\n```text\nr1 is told\n```\n\n    it is told\n\n`told` and "told"\n'
        "<!-- table: x -->\n| told |\n<!-- end of table -->\n* with `* told`, not *told*\n"
    )

    assert prose_of(text).split() == ["Who", "is", "told?", "and", "*", "with", ",", "not"]


def test_no_line_installs_the_other_program_of_this_name() -> None:
    other = re.compile(r"pip install (?:\S+ )*['\"]?waterline\b(?!-checker)")
    found = [path.name for path in (*DOCUMENTS, *MODULES) if other.search(path.read_text())]

    assert other.search("pip install -U 'waterline[kafka]'")
    assert found == []


def words_of(path: Path) -> int:
    """How many words a page has, without recorded tables."""
    return len(_TABLE.sub("", path.read_text(encoding="utf-8")).split())


def test_documents_are_few_and_short() -> None:
    papers = {ROOT / name for name in ("ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md")}

    assert len(list((ROOT / "docs").glob("*.md"))) <= PAGES_MAX
    words = sum(words_of(path) for path in set(DOCUMENTS) - papers)
    assert words <= WORDS_MAX, f"cut {words - WORDS_MAX} words, here or elsewhere"


def entries_of(changelog: str) -> list[str]:
    """The list's entries, each with the lines that continue it."""
    return re.findall(r"^- .*\n(?:  .*\n)*", changelog, re.MULTILINE)


def test_an_entry_of_the_changelog_has_at_most_three_lines_of_120_characters() -> None:
    entries = entries_of((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    too_long = [
        entry
        for entry in entries
        if entry.count("\n") > 3 or max(map(len, entry.splitlines())) > 120
    ]

    assert entries
    assert too_long == []


def test_lines_that_continue_an_entry_count() -> None:
    assert [entry.count("\n") for entry in entries_of("- a\n  b\n  c\n  d\n- e\n\nf\n")] == [4, 1]


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
