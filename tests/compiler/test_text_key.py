"""A program that was written once is found again by what was looked up to write it: all of that."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.edited_rules import EDITS, RULES, with_rules
from tests.support.graph_model import graph_problem
from tests.support.sampling import drawn
from waterline.checker.compiler import cache, kernel, machine, program, sources
from waterline.checker.compiler.kernel import kernel_of, plan_of, program_of, recipes_of
from waterline.checker.compiler.source import NotCompilable
from waterline.checker.compiler.sources import COMPILER, PACKAGES, sources_in
from waterline.checker.compiler.text_key import TextKey, key_of
from waterline.checker.kafka.families import GRAINS, problem_for
from waterline.checker.problem.problem import Problem, sharing
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.storage import programs
from waterline.model.message.environment import Environment

PROBLEM = graph_problem([(0, 1)])


@pytest.fixture(autouse=True)
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache, and sources that nobody edits, however young the checkout is."""
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "SETTLED_SECONDS", float("-inf"))
    forget()
    yield
    forget()


def forget() -> None:
    """What this process knows of programs."""
    program.forget()


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the programs whose text was written."""
    names: list[str] = []
    really = kernel.program

    def noted(*arguments: Any) -> Any:
        made = really(*arguments)
        names.append(made.name)
        return made

    monkeypatch.setattr(kernel, "program", noted)
    return names


def named(*made_of: Any) -> str:
    """The name of a recipe that has a key."""
    key = key_of(*made_of)
    assert key is not None
    return key.name


def written_again(problem: Problem, written: list[str]) -> bool:
    """Whether its text is written, once what this process knows is forgotten."""
    forget()
    before = len(written)
    kernel_of(problem)
    return len(written) > before


def key_file(problem: Problem = PROBLEM) -> Path:
    made_of = program_of.__name__, machine.description(), plan_of(problem)
    return cache.folder() / f"{named(*made_of)}.o"


def test_the_text_of_what_was_compiled_before_is_not_written(written: list[str]) -> None:
    made = kernel_of(PROBLEM)
    forget()
    found = kernel_of(PROBLEM)

    assert len(written) == 1
    assert found.expand is not made.expand
    assert replace(found, expand=made.expand, inspect=made.inspect) == made


def test_a_symmetric_problem_is_recognised_too(written: list[str]) -> None:
    environment = Environment(records=1, epochs=1, election_order="any")
    problem = problem_for("hw", environment, symmetry=Symmetry.REPLICAS)
    kernel.canonical_of(problem)
    forget()
    kernel.canonical_of(problem)

    assert len(written) == 1


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-1]), id="cut short"),
        pytest.param(lambda path: cache.keep(path.stem, b"[1, 2"), id="no JSON"),
        pytest.param(lambda path: cache.keep(path.stem, b"[1]"), id="another form"),
        pytest.param(lambda path: path.chmod(0o666), id="open to others"),
    ],
)
def test_what_is_kept_of_a_program_and_not_whole_is_made_again(
    damage: Callable[[Path], Any], written: list[str]
) -> None:
    kernel_of(PROBLEM)
    whole = key_file().read_bytes()
    damage(key_file())
    forget()
    kernel_of(PROBLEM)

    assert len(written) == 2
    assert key_file().read_bytes() == whole


def test_without_its_machine_code_a_recognised_program_is_compiled(written: list[str]) -> None:
    [recipe] = recipes_of(PROBLEM)
    program.load_program(recipe)
    (cache.folder() / f"{written[0]}.o").unlink()
    forget()
    program.load_program(recipe)

    assert len(written) == 2
    assert (cache.folder() / f"{written[0]}.o").exists()


@pytest.mark.parametrize("edit", drawn(EDITS, 3))
def test_an_edit_writes_the_text_anew(edit: str, tmp_path: Path, written: list[str]) -> None:
    assert_written_anew(edit, tmp_path, written)


def assert_written_anew(edit: str, folder: Path, written: list[str]) -> None:
    """The text of rules is written once, and once more after an edit."""
    first = written_again(with_rules(RULES, folder), written)
    same = written_again(with_rules(RULES, folder), written)
    edited = written_again(with_rules(RULES.replace(*EDITS[edit]), folder), written)

    assert [first, same, edited] == [True, False, True]
    assert len(set(written)) == 2


def test_a_global_that_was_set_anew_writes_the_text_anew(
    tmp_path: Path, written: list[str]
) -> None:
    problem = with_rules(RULES, tmp_path)
    names = problem.model.actions[0].guard.__globals__
    kernel_of(problem)
    names["LIMIT"] = 5
    limit = written_again(problem, written)
    names["Kind"].FIRST = 2
    attribute = written_again(problem, written)
    names["range"] = max
    unread = written_again(problem, written)

    assert [limit, attribute, unread] == [True, True, False]


def test_a_built_in_function_that_the_module_hides_writes_the_text_anew(
    tmp_path: Path, written: list[str]
) -> None:
    text = RULES.replace("node < LIMIT", "min(node, 7) < LIMIT")
    problem = with_rules(text, tmp_path)
    kernel_of(problem)
    problem.model.actions[0].guard.__globals__["min"] = max

    assert written_again(problem, written)


def test_settings_sizes_claims_and_what_is_shared_give_other_keys() -> None:
    one, other = problem_for("hw", Environment()), problem_for("epoch", Environment())
    problems = [
        one,
        other,
        problem_for("hw", Environment(restarts=1)),
        problem_for("hw", Environment(epochs=1)),
        problem_for("hw", Environment(), ["sane"]),
        replace(one, shared=sharing([one, other])),
    ]

    assert len({named(plan_of(problem)) for problem in problems}) == len(problems)


@pytest.mark.parametrize("grain", GRAINS)
def test_a_version_of_each_grain_has_a_key_and_a_record(grain: str) -> None:
    [version] = drawn(GRAINS[grain].versions, 1)

    assert is_recorded(GRAINS[grain].problem(version, GRAINS[grain].usual))


def is_recorded(problem: Problem) -> bool:
    """Its program has a key, and a record of what was looked up."""
    plan = plan_of(problem)
    key = key_of(plan)
    return key is not None and key.record(program_of(plan).found) is not None


def test_the_loops_of_the_store_have_keys_of_their_own() -> None:
    recipes = [r for words in (1, 2) for r in programs.over_files(words)]
    recipes += [r for words in (1, 2) for r in programs.in_memory(words, threads=2)]
    names = {named(*recipe.made_of) for recipe in recipes}

    assert len(names) == len(recipes)


def test_what_has_no_content_is_refused_where_it_is_read(tmp_path: Path) -> None:
    text = RULES.replace("class Kind:", "class Kind:\n    LIMITS = [1]\n").replace(
        "s.node = target", "s.node = target if Kind.FIRST == 1 else Kind.LIMITS"
    )
    kernel_of(with_rules(text, tmp_path))
    with pytest.raises(NotCompilable, match=r"`Kind.LIMITS` is list, no number; use whole numbers"):
        kernel_of(with_rules(text.replace("FIRST = 1", "FIRST = 2"), tmp_path))


def test_a_record_that_does_not_fit_is_no_record(written: list[str]) -> None:
    kernel_of(PROBLEM)
    whole = json.loads(cache.lookup(key_file().stem) or b"")
    for record in (
        [[99, [["name", "LIMIT"]], "int 3"]],
        [[0, [["nowhere", 1]], "int 3"]],
        [[0, "text", 1]],
        7,
        json.loads("[" * 900 + "]" * 900),
    ):
        cache.keep(key_file().stem, json.dumps([*whole[:2], record]).encode())
        assert written_again(PROBLEM, written)
    cache.keep(key_file().stem, b"[" * 100_000 + b"]" * 100_000)

    assert written_again(PROBLEM, written)


def test_a_key_is_the_same_in_every_process() -> None:
    told = (
        "from waterline.checker.compiler import kernel, sources, text_key\n"
        "from waterline.checker.kafka.families import problem_for\n"
        "from waterline.model.message.environment import Environment\n"
        "sources.SETTLED_SECONDS = float('-inf')\n"
        "print(text_key.key_of(kernel.plan_of(problem_for('hw', Environment()))).name)"
    )
    keys = [
        subprocess.run(
            [sys.executable, "-c", told],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    ]

    assert keys == [named(plan_of(problem_for("hw", Environment())))] * 2


def test_sources_that_may_not_be_what_runs_give_a_key_of_this_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    newest = max(path.stat().st_ctime for path in sources_in(COMPILER))
    monkeypatch.setattr(sources, "SETTLED_SECONDS", 60.0)
    monkeypatch.setattr(sources, "_BEGAN", newest + 59)
    young = key_of(1)
    monkeypatch.setattr(sources, "_BEGAN", newest + 61)
    settled = key_of(1)
    monkeypatch.setattr(sources, "sources_in", lambda places: (Path(__file__) / "in a zip",))

    assert [each is not None and each.is_settled for each in (young, settled)] == [False, True]
    assert key_of(1) == young


def test_another_byte_of_a_source_gives_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "loops.py"
    monkeypatch.setattr(sources, "PACKAGES", tmp_path)
    monkeypatch.setattr(sources, "sources_in", lambda places: (source,))
    names = set()
    for text in ("BLOCK = 64\n", "BLOCK = 32\n"):
        source.write_text(text)
        sources._bytes_digest.cache_clear()
        names.add(named(1))
    sources._bytes_digest.cache_clear()

    assert len(names) == 2


def test_all_that_writes_a_text_is_among_the_sources() -> None:
    listing = (
        "import sys, waterline.checker.compiler.kernel\n"
        "print(*(m.__file__ for m in sys.modules.values() if m.__name__.startswith("
        "('waterline.checker', 'waterline.counterexamples', 'waterline.invariants', "
        "'waterline.model'))), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    )
    loaded = {Path(line) for line in done.stdout.splitlines()}
    empty = {PACKAGES / package / "__init__.py" for package in ("checker", "model")}

    assert PACKAGES / "checker" / "compiler" / "loops.py" in loaded
    assert loaded - empty <= set(sources_in(COMPILER))


def test_the_least_that_a_key_covers_is_its_functions() -> None:
    problem = problem_for("hw", Environment())
    key = key_of(plan_of(problem))

    assert isinstance(key, TextKey)
    assert {a.guard for a in problem.model.enabled_actions} <= set(key.functions)
