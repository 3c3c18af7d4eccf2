"""The digest of the program has every module that a search or a gate's answer can come from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from waterline.checker.problem import program_digest
from waterline.checker.problem.program_digest import (
    ASIDE,
    PACKAGES,
    RULES,
    modules_of_package,
    sources,
)

BEGIN = (
    "waterline.checker.checking.run",
    "waterline.checker.ci.searching",
    "waterline.checker.search.engines.task",
    "waterline.checker.kafka.families",
    "waterline.checker.problem.where",
    "waterline.checker.user_models.family",
    "waterline.checker.user_models.vetting",
)
"""What finds an answer: a search, a gate, Spark's tasks; and what makes problems of files."""


def reachable_modules() -> dict[str, Path]:
    """The modules of ours that these import, also within functions, by name. None is run."""
    found: dict[str, Path] = {}
    waiting = list(BEGIN)
    while waiting:
        name = waiting.pop()
        path = path_of(name)
        if path is not None and name not in found:
            found[name] = path
            waiting += [name.rpartition(".")[0], *imported(ast.parse(path.read_bytes()))]
    return found


def path_of(name: str) -> Path | None:
    if name.partition(".")[0] != PACKAGES.name:
        return None
    place = PACKAGES.parent.joinpath(*name.split("."))
    candidates = (place / "__init__.py", place.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)


def imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Import():
            yield from (alias.name for alias in node.names)
        case ast.ImportFrom(module=str(module)):
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from imported(child)


def test_every_module_that_can_be_reached_is_in_the_digest_or_has_rules() -> None:
    covered = set(sources())
    rules = [PACKAGES / each for each in RULES]
    left_out = {
        name
        for name, path in reachable_modules().items()
        if path not in covered and not any(path.is_relative_to(folder) for folder in rules)
    }

    assert left_out == set()
    assert PACKAGES / "checker" / "liveness" / "lasso.py" in covered


def test_only_libraries_and_claims_are_imported_by_a_name_that_is_computed() -> None:
    """The walk does not follow it."""
    computing = {
        name
        for name, path in reachable_modules().items()
        if "import_module(" in (text := path.read_text()) or "__import__(" in text
    }

    assert computing == {
        "waterline.checker.search.engines.java",
        "waterline.checker.search.engines.spark_session",
        "waterline.checker.ties.grammar_source",  # parsers of ties, which no answer depends on
        "waterline",
        "waterline.invariants",
    }


def test_what_is_left_out_is_there_and_is_all_that_is_left_out() -> None:
    left_out = [PACKAGES / each for each in (*RULES, *ASIDE)]
    everything = set(modules_of_package())

    assert all(folder.is_dir() for folder in left_out)
    assert everything - set(sources()) == {p for f in left_out for p in f.rglob("*.py")}


@pytest.mark.parametrize("changed", ["a source", "a library"])
def test_another_byte_or_another_version_is_another_program(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = program_digest.program_digest.__wrapped__()
    if changed == "a source":
        (tmp_path / "more.py").write_text("")
        monkeypatch.setattr(program_digest, "PACKAGES", tmp_path)
        monkeypatch.setattr(program_digest, "sources", lambda: [tmp_path / "more.py"])
    else:
        monkeypatch.setattr(program_digest.importlib.metadata, "version", lambda name: "0")

    assert program_digest.program_digest.__wrapped__() != before
