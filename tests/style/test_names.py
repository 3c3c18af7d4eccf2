"""Functions and classes are named by verbs and nouns: `parse`, not `parsed`."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("checker", "counterexamples", "invariants", "model", "waterline")
IRREGULAR = re.compile(
    r"begun|bought|broken|brought|built|caught|chosen|done|drawn|driven|"
    r"fallen|felt|forgotten|found|frozen|given|gone|grown|heard|held|hidden|"
    r"kept|known|laid|led|lent|lost|made|meant|met|overridden|paid|proven|"
    r"redone|rewritten|said|seen|sent|shown|shut|sold|sought|spent|spoken|"
    r"stolen|struck|stuck|sunk|sworn|taken|taught|thought|thrown|told|"
    r"undone|unread|understood|woken|won|worn|wound|written"
)
VERBS_AND_NOUNS = frozenset(
    ["bed", "embed", "exceed", "feed", "heed", "need", "proceed", "seed", "speed", "succeed"]
)
STATES = {"property", "cached_property"}
"""A property reads as a field does: `result.violated` is an adjective, as in English."""
ALLOWED = frozenset(
    {
        "checker/compiler/machine_words.py:_divided",
        "checker/compiler/machine_words.py:_seen",
        "checker/compiler/machine_words.py:_shifted",
        "checker/compiler/states.py:faulted",
        "checker/compiler/states.py:raised",
        "checker/kafka/confirm/fluss/servers.py:heard",
        "checker/kafka/confirm/kraft/stage.py:answered",
        "checker/kafka/confirm/kraft/stage.py:asked",
        "model/own/sequence_code.py:_counted",
        "model/own/sequence_code.py:_found",
        "model/own/sequence_code.py:_refused",
        "model/own/sequence_code.py:_sorted",
        "waterline/running.py:enabled",
    }
)
"""May only shrink. Names of the compiler's intrinsics and of operations that generated code calls;
how a held request and its answer are changed; `waterline.enabled`, which is public.
"""
CLASSES_MAX = {"checker": 70, "counterexamples": 4, "invariants": 1, "model": 11, "waterline": 2}
"""How many classes have such a name. The numbers may only shrink."""


def is_bare_participle(name: str) -> bool:
    """Whether a name is one word, and that a past participle."""
    word = name.strip("_")
    is_one_word = word.isalpha() and word[1:].islower()
    word = word.lower()
    ends = word.endswith("ed") and len(word) > len("need")
    return (
        is_one_word
        and word not in VERBS_AND_NOUNS
        and (ends or IRREGULAR.fullmatch(word) is not None)
    )


def bare_participles(text: str) -> tuple[list[str], list[str]]:
    """Return the functions and the classes of a module that are named by a bare participle."""
    functions, classes = [], []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and is_bare_participle(node.name):
            classes.append(node.name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {ast.unparse(each).split(".")[-1] for each in node.decorator_list}
            if is_bare_participle(node.name) and not decorators & STATES:
                functions.append(node.name)
    return functions, classes


@cache
def names_of(package: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return such functions and such classes of a package, each after its file."""
    found, classes = set(), set()
    for path in sorted((ROOT / package).rglob("*.py")):
        functions, named = bare_participles(path.read_text(encoding="utf-8"))
        place = path.relative_to(ROOT).as_posix()
        found |= {f"{place}:{name}" for name in functions}
        classes |= {f"{place}:{name}" for name in named}
    return frozenset(found), frozenset(classes)


def test_a_bare_participle_is_recognised() -> None:
    text = """
class Asked:
    @property
    def violated(self): ...
    def judged(self): ...
    def is_judged(self): ...
def _held(): ...
def need(): ...
def parse_all(): ...
"""

    assert bare_participles(text) == (["_held", "judged"], ["Asked"])


@pytest.mark.parametrize("package", PACKAGES)
def test_functions_are_named_by_verbs_and_nouns(package: str) -> None:
    """Rename what is too many: the first noun or verb of its docstring is mostly its name."""
    found, _ = names_of(package)

    assert found == {name for name in ALLOWED if name.startswith(f"{package}/")}


@pytest.mark.parametrize("package", PACKAGES)
def test_fewer_classes_than_before_are_named_by_a_participle(package: str) -> None:
    _, classes = names_of(package)

    few = f"rename a class, or lower the number: {', '.join(sorted(classes))}"
    assert len(classes) == CLASSES_MAX[package], few
