"""A program that was written once is recognised by what it is made of, and by all of that."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compiling import module_of
from edited_rules import EDITS, RULES, with_rules
from graph_model import graph_problem

from checker.compiled import cache, kernel, machine, program, recognised
from checker.compiled.kernel import kernel_of, plan_of, program_of
from checker.compiled.recognised import key_of
from checker.kafka.families import GRAINS, problem_for
from checker.problems.problem import Problem, sharing
from checker.problems.symmetry import Symmetry
from checker.store import programs
from model.message.environment import Environment

PROBLEM = graph_problem([(0, 1)])


@pytest.fixture(autouse=True)
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty cache, and sources that nobody edits, however young the checkout is."""
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(recognised, "SETTLED_SECONDS", float("-inf"))
    forget()
    yield
    forget()


def forget() -> None:
    """What this process knows of programs."""
    program.forget()
    program_of.cache_clear()


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


def key_file(problem: Problem = PROBLEM) -> Path:
    made_of = program_of.__name__, machine.description(), plan_of(problem)
    return cache.folder() / f"{key_of(*made_of)}.o"


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
    kernel_of(PROBLEM)
    (cache.folder() / f"{written[0]}.o").unlink()
    forget()
    kernel_of(PROBLEM)

    assert len(written) == 2
    assert (cache.folder() / f"{written[0]}.o").exists()


@pytest.mark.parametrize(("old", "new"), EDITS.values(), ids=EDITS)
def test_an_edit_gives_another_key(old: str, new: str, tmp_path: Path) -> None:
    texts = (RULES, RULES, RULES.replace(old, new))
    first, again, edited = (key_of(plan_of(with_rules(text, tmp_path))) for text in texts)

    assert first is not None
    assert first == again
    assert edited not in {first, None}


def test_a_global_that_was_set_anew_gives_another_key(tmp_path: Path) -> None:
    problem = with_rules(RULES, tmp_path)
    names = problem.model.actions[0].guard.__globals__
    before = key_of(plan_of(problem))
    names["LIMIT"] = 5
    limit = key_of(plan_of(problem))
    names["Kind"].FIRST = 2
    attribute = key_of(plan_of(problem))

    assert len({before, limit, attribute}) == 3


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

    assert len({key_of(plan_of(problem)) for problem in problems}) == len(problems)


def test_every_version_of_every_grain_has_a_key() -> None:
    """Where a rule reaches something that cannot be described it is slow, and nothing says so."""
    without = [
        f"{grain.name} {version}"
        for grain in GRAINS.values()
        for version in grain.versions
        if key_of(plan_of(grain.problem(version, grain.usual))) is None
    ]

    assert without == []


def test_the_loops_of_the_store_have_keys_of_their_own() -> None:
    recipes = [r for words in (1, 2) for r in programs.over_files(words)]
    recipes += [r for words in (1, 2) for r in programs.in_memory(words, threads=2)]
    keys = {key_of(*recipe.made_of) for recipe in recipes}

    assert None not in keys
    assert len(keys) == len(recipes)


def test_what_cannot_be_described_gives_no_key_and_is_compiled_all_the_same(
    tmp_path: Path, written: list[str]
) -> None:
    text = RULES.replace("class Kind:", "class Kind:\n    LIMITS = [1]\n").replace(
        "s.node = target", "s.node = target if Kind.FIRST == 1 else Kind.LIMITS"
    )
    module = module_of(text, tmp_path)

    assert key_of(module.effect) is None

    module = module_of(RULES, tmp_path)
    module.LIMIT = object()
    assert key_of(module.guard) is None
    assert written == []


def test_a_key_is_the_same_in_every_process() -> None:
    told = (
        "from checker.compiled import kernel, recognised\n"
        "from checker.kafka.families import problem_for\n"
        "from model.message.environment import Environment\n"
        "recognised.SETTLED_SECONDS = float('-inf')\n"
        "print(recognised.key_of(kernel.plan_of(problem_for('hw', Environment()))))"
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

    assert keys == [key_of(plan_of(problem_for("hw", Environment())))] * 2


def test_sources_that_may_not_be_what_runs_give_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    newest = max(path.stat().st_ctime for path in recognised._sources())
    monkeypatch.setattr(recognised, "SETTLED_SECONDS", 60.0)
    monkeypatch.setattr(recognised, "_BEGAN", newest + 59)
    young = key_of(1)
    monkeypatch.setattr(recognised, "_BEGAN", newest + 61)
    settled = key_of(1)
    monkeypatch.setattr(recognised, "_sources", lambda: (Path(__file__) / "in a zip",))

    assert young is None
    assert settled is not None
    assert key_of(1) is None


def test_another_byte_of_a_source_gives_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "loops.py"
    monkeypatch.setattr(recognised, "PACKAGES", tmp_path)
    monkeypatch.setattr(recognised, "_sources", lambda: (source,))
    keys = set()
    for text in ("BLOCK = 64\n", "BLOCK = 32\n"):
        source.write_text(text)
        recognised._bytes_digest.cache_clear()
        keys.add(key_of(1))
    recognised._bytes_digest.cache_clear()

    assert len(keys) == 2


def test_all_that_writes_a_text_is_among_the_sources() -> None:
    listing = (
        "import sys, checker.compiled.kernel\n"
        "print(*(m.__file__ for m in sys.modules.values() if m.__name__.split('.')[0] in "
        "('checker', 'counterexamples', 'invariants', 'model')), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True
    )
    loaded = {Path(line) for line in done.stdout.splitlines()}
    packages = ("checker", "checker/problems")
    empty = {recognised.PACKAGES / package / "__init__.py" for package in packages}

    assert recognised.PACKAGES / "checker" / "compiled" / "loops.py" in loaded
    assert loaded - empty <= set(recognised._sources())


def test_what_decides_about_a_reduction_is_among_the_sources() -> None:
    """Its decisions are kept from run to run: another version of it must not find them."""
    reduced = Path(recognised.__file__).parents[1] / "reduced"

    assert set(reduced.glob("*.py")) <= set(recognised._sources())
