"""What the compiler is held against, one check after the other: see `fuzz.compiler_mutation`.

Everything of `checker` is imported inside functions, in the process whose compiler is altered. Only
what a check comes to is worked out before, by Python: `prepared` says it as plain values.

Where the compiler writes the very text of LLVM that the unaltered one writes, it means the same,
and nothing is run. What is run is made without optimisation first, which is quick, and in full
where that shows nothing.
"""

from __future__ import annotations

import hashlib
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FEW_SECONDS, SOME_SECONDS = 2, 6
"""Of processor time: for a function or a test, and for a kernel."""
WAITING_SECONDS = 60
"""Of the clock, for a test whose threads may wait for one another for ever."""


@dataclass(slots=True)
class Expected:
    """What checks come to, and of each text of LLVM its hash, by the name of the check."""

    programs: list[tuple[str, str, tuple[str, ...], list[Any]]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    kernels: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    orbits: dict[str, list[list[tuple[int, ...]]]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    reached: dict[str, set[str]] = field(default_factory=dict)
    """Which functions of the compiler a small function is written with: `writer.combined`."""
    flat: set[str] = field(default_factory=set)
    """Small functions that have a form without branches."""
    compiled: frozenset[str] = frozenset()
    """Functions of the store that are compiled: `compact_loops._home`."""


def within(seconds: float) -> None:
    """End this process unless it comes here again within so much processor time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


@contextmanager
def noticing(reached: set[str]) -> Iterator[None]:
    """Note the functions that are called meanwhile, with their modules."""

    def note(frame: Any, event: str, argument: object) -> None:
        if event == "call":
            reached.add(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}")

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def digest(text: str) -> str:
    """A short name of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- functions of a few lines --------------------------------------------------------------------


def drawn_programs(count: int, folder: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Random functions and those of the tests: a name, the file, which settings are not known."""
    from hypothesis import HealthCheck, Phase, given, seed, settings
    from test_flat import FUNCTIONS, HELPERS
    from test_operations import FUNCTIONS as OPERATIONS

    from tests.support.compiling import module_of
    from tests.support.programs import as_compiled, expressions, function_of, statements

    texts = [(name, HELPERS + text) for name, text in FUNCTIONS.items()]
    some = settings(
        max_examples=count,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )

    @seed(11)
    @some
    @given(expression=expressions(), body=statements(), looks=statements(writes=False))
    def draw(expression: str, body: list[str], looks: list[str]) -> None:
        for kind, lines in (("f", [f"return {expression}"]), ("w", body), ("l", looks)):
            texts.append((f"{kind}{len(texts)}", function_of(lines)))

    draw()
    operations = sorted(OPERATIONS.items(), key=lambda named: len(named[1]))
    texts += [(f"operation {name}", text) for name, text in operations]
    varied = (), ("low", "none", "high"), ("none",)
    for number, (name, text) in enumerate(texts):
        module_of(text, folder)
        module = module_of(as_compiled(text), folder)
        yield name, str(module.__file__), varied[number % 3]


def interpreted_program(file: str) -> list[Any]:
    """What a function comes to in every state, with its argument."""
    from tests.support.compiling import ALL_STATES, ARGUMENTS, Settings, interpreted, module_from
    from tests.support.programs import fit, rest, shift

    number = int(re.findall(r"\d+", Path(file).stem)[-1])
    module = module_from(Path(file).with_name(f"rules{number - 1}.py"))
    vars(module).update(fit=fit, rest=rest, shift=shift)
    outcomes: list[Any] = []
    for number, state in enumerate(ALL_STATES):
        for argument in {number % ARGUMENTS, (number + 1) % ARGUMENTS}:
            found = interpreted(module.f, Settings(), state, argument)
            outcomes.append((number, argument, found))
    return outcomes


def check_programs(
    expected: Expected, functions: dict[str, Any], is_other: Any, altered: str
) -> None:
    """Functions of a few lines, with branches and without.

    Those that never come by what is altered (`writer.combined`) are written as before.
    """
    calls = {function for reached in expected.reached.values() for function in reached}
    from tests.support.compiling import ALL_STATES, FAULT, Both
    from waterline.checker.compiler import machine

    differing = []
    for name, file, varying, outcomes in expected.programs:
        if altered in calls and altered not in expected.reached[name]:
            continue
        within(FEW_SECONDS)
        both = Both(functions[file], ALL_STATES[0].layout, varying=varying)
        if is_other(name, both.text):
            differing.append((name, both, outcomes))
            _compare_program(name, both, outcomes, FAULT, ALL_STATES, is_flat=name in expected.flat)
    in_full(machine)
    for name, both, outcomes in differing:
        within(FEW_SECONDS)
        both.forget()
        _compare_program(name, both, outcomes, FAULT, ALL_STATES, is_flat=name in expected.flat)
    in_haste(machine)


def _compare_program(
    name: str, both: Any, outcomes: list[Any], fault: str, states: Any, *, is_flat: bool
) -> None:
    for number, argument, outcome in outcomes:
        found = both.compiled(states[number], argument)
        assert found == outcome, f"{name}: {found} instead of {outcome}"
        flat = both.flat(states[number], argument)
        first = outcome if outcome == fault else outcome[0]
        assert flat == first or (flat is None and not is_flat), (
            f"{name} without branches: {flat} instead of {first}"
        )


def in_haste(machine: Any) -> None:
    """Machine code is made without optimisation from here on."""
    machine.LEVEL = 0
    machine._machine.cache_clear()


def in_full(machine: Any) -> None:
    """Machine code is made as ever from here on."""
    machine.LEVEL = 3
    machine._machine.cache_clear()


def check_refused(expected: Expected, functions: dict[str, Any]) -> None:
    """What is no rule is refused, and why."""
    from tests.support.compiling import Both, small_layout
    from waterline.checker.compiler.source import NotCompilable

    for file, said in expected.refused:
        within(FEW_SECONDS)
        try:
            Both(functions[file], small_layout())
            words = "nothing"
        except NotCompilable as refused:
            words = str(refused)
        assert re.search(said, words), f"{words} instead of a refusal: {said}"


# --- the store -----------------------------------------------------------------------------------

TESTS = (
    "storage/test_arrivals",
    "storage/test_store",
    "storage/test_compact",
    "search/test_tiny_graphs",
)
_FIRST = {
    "run_loops": "storage/test_store",
    "arrivals": "storage/test_arrivals",
    "compact_loops": "storage/test_compact",
    "explore_loop": "search/test_tiny_graphs",
}


def store_texts() -> dict[str, str]:
    """Every program of the store, for states of one to three words."""
    from waterline.checker.storage import arrivals, blocks, compact, runs

    found = {}
    for words in (1, 2, 3):
        for module in (blocks, runs, arrivals):
            found[f"{module.__name__} {words}"] = module.recipe_of(words).program().text
        for alone in (True, False):
            found[f"compact {words} {alone}"] = compact.recipe_of(words, alone=alone).program().text
    return found


def check_store(module: str, folder: Path, is_other: Any) -> None:
    """The tests of the store, if any of its programs has another text."""
    import pytest

    within(SOME_SECONDS)
    if not any(is_other(name, text) for name, text in store_texts().items()):
        return
    first = _FIRST.get(module, "storage/test_store")
    files = sorted(TESTS, key=lambda name: name != first)
    watch = _Watch()
    paths = [str(folder / "tests" / f"{name}.py") for name in files]
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is imported already
    pytest.main([*options, "-c", str(folder / "pyproject.toml"), *paths], plugins=[watch])
    assert not watch.failed, watch.failed
    assert watch.passed, "no test ran"


class _Watch:
    """Notes what fails, and ends a test that goes on for ever."""

    def __init__(self) -> None:
        self.failed, self.passed = "", 0

    def pytest_runtest_setup(self, item: Any) -> None:
        within(SOME_SECONDS)
        signal.alarm(WAITING_SECONDS)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.passed += report.passed
        if report.failed and not self.failed:
            self.failed = report.nodeid.rpartition("/")[2]

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid}: nothing could be imported"
