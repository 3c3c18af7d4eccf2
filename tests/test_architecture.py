"""What may import what, and the few constructs that have one place only."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = ("model", "invariants", "counterexamples", "checker", "waterline")
MAY_IMPORT = {
    "model": {"model"},
    "invariants": {"invariants", "model"},
    "counterexamples": {"counterexamples"},
    "checker": set(OURS) - {"waterline"},
    "waterline": {"model"},
}
ROOMS = {
    "model/kit": {"model.kit"},
    "model/own": {"model.kit", "model.own"},
    "model/message": {"model.kit", "model.message"},
    "counterexamples/formats": {
        "counterexamples",
        "counterexamples.errors",
        "counterexamples.formats",
        "counterexamples.json_text",
        "counterexamples.protocols",
        "counterexamples.replay",
        "counterexamples.trace",
        "counterexamples.trace_file",
    },
    "checker/problems": {"checker.problems", "model.kit"},
    "checker/compiled": {"checker.compiled", "checker.problems", "checker.rows", "model.kit"},
    "checker/reduced": {"checker.compiled", "checker.problems", "checker.reduced", "model.kit"},
    "checker/store": {
        "checker.compiled",
        "checker.errors",
        "checker.rows",
        "checker.store",
        "model.kit",
    },
    "checker/engines": {
        "checker.compiled",
        "checker.engines",
        "checker.errors",
        "checker.memory_use",
        "checker.problems",
        "checker.rows",
        "checker.store",
        "counterexamples.FULL",
        "counterexamples.written_whole",
        "model.kit",
    },
    "checker/behaviours": {
        "checker.behaviours",
        "checker.compiled",
        "checker.engines",
        "checker.problems",
        "checker.rows",
        "checker.store",
        "model.kit",
    },
}
"""What a room within a package may import of ours. Only `model/message` of these knows Kafka."""
CORE = (
    "checker",
    "checker/problems",
    "checker/compiled",
    "checker/reduced",
    "checker/store",
    "checker/engines",
    "checker/behaviours",
)
"""The search and all that it rests on: told of a protocol, and never importing one."""
NOT_CORE = {
    "checker.asking",
    "checker.byhand",
    "checker.compare",
    "checker.confirm",
    "checker.console",
    "checker.explain",
    "checker.gate",
    "checker.kafka",
    "checker.matrix",
    "checker.own",
    "checker.pictures",
    "checker.scenarios",
    "checker.simulate",
    "checker.story",
    "checker.viewer",
}
"""What knows a protocol, or which of them there are."""
OF_ANY_MODEL = "model.kit"
"""What the core may import of the packages that Kafka's model and claims are in."""
MAY_PRINT = {
    "checker/console/check/checking.py",
    "checker/console/check/command.py",
    "checker/console/check/report.py",
    "checker/console/check/tour_command.py",
    "checker/console/cli.py",
    "checker/console/confirm/catalogue_command.py",
    "checker/console/confirm/confirm_command.py",
    "checker/console/confirm/walking.py",
    "checker/console/gate/run.py",
    "checker/console/kept/cache_command.py",
    "checker/console/matrix/run.py",
    "checker/console/models/layout_command.py",
    "checker/console/models/versions_command.py",
    "checker/console/scenarios/command.py",
    "checker/console/scenarios/run.py",
    "checker/console/shared/progress.py",
    "checker/console/shared/screen.py",
    "checker/console/shared/told_errors.py",
    "checker/console/traces/comparing.py",
    "checker/console/traces/explaining.py",
    "checker/console/traces/view_command.py",
    "checker/console/walks/by_hand.py",
    "checker/console/walks/simulating.py",
    "checker/gate/reports/telling.py",
    "checker/matrix/picture.py",
}
MAY_EXIT = {"checker/console/cli.py"}
LINES_MAX = 500
KNOW_EACH_OTHER = {
    ("checker.compiled.conditions", "checker.compiled.expressions"),
    ("checker.problems.problem", "checker.problems.family"),
    ("checker.problems.reduction", "checker.problems.problem"),
}
"""Modules that import each other, the second only for its types, and have to: conditions consist of
expressions and these of conditions; a family makes problems, and a problem says which one made it;
a reduction says how to reduce a problem again, and a problem how it was reduced.
"""

NO_FILES_OR_SCREENS = {"click", "io", "os", "pathlib", "rich", "shutil", "subprocess", "sys"}
"""The protocol and the claims about it are values and functions, and nothing outside."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def modules(*packages: str) -> list[Path]:
    return [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imported(path: Path) -> Iterator[str]:
    """The top-level names that a module imports, anywhere in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0] if not node.level else path.parent.name


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
        if name in OURS and name not in MAY_IMPORT[package]
    }

    assert modules(package)
    assert not wrong


def reached(path: Path) -> Iterator[str]:
    """The modules of ours that a module imports, by the room that they are in: `model.kit`."""
    for node in ast.walk(tree(path)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom) and (node.module or "").count(".") == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        yield from (".".join(n.split(".")[:2]) for n in names if n.split(".")[0] in OURS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_is_below_it(room: str) -> None:
    wrong = {
        f"{named(path)} imports {name}"
        for path in modules(room)
        for name in reached(path)
        if name not in ROOMS[room]
    }

    assert modules(room)
    assert not wrong


def imported_modules(path: Path) -> Iterator[str]:
    """The modules of ours that a module imports, anywhere in it, also for its types alone."""
    for node in ast.walk(tree(path)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        yield from (name for name in names if name in files_by_module())


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


@pytest.mark.parametrize("folder", CORE)
def test_the_core_is_handed_a_family_and_imports_none(folder: str) -> None:
    files = [path for path in (ROOT / folder).glob("*.py") if path.name != "__main__.py"]
    wrong = {
        f"{named(path)} imports {name}"
        for path in files
        for name in reached(path)
        if name in NOT_CORE or not name.startswith(("checker.", "counterexamples", OF_ANY_MODEL))
    }

    assert files
    assert not wrong


@pytest.mark.parametrize("package", ["model", "invariants"])
def test_model_and_invariants_need_only_the_language(package: str) -> None:
    outside = {
        f"{named(path)} imports {name}"
        for path in modules(package)
        for name in imported(path)
        if name not in OURS and (name not in sys.stdlib_module_names or name in NO_FILES_OR_SCREENS)
    }

    assert not outside


def test_brokers_are_spoken_to_in_one_place_which_needs_no_spark() -> None:
    brokers, spark = {"kafka", "kazoo", "kio"}, {"pyspark", "py4j"}
    inside = modules("checker/confirm")
    outside = [path for path in modules(*OURS) if path not in inside]

    assert not spark & {name for path in inside for name in imported(path)}
    assert not brokers & {name for path in outside for name in imported(path)}
    assert brokers <= {name for path in inside for name in imported(path)}


def test_what_is_tested_of_imports_is_found_wherever_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "import os.path\nfrom checker.search import search\n"
        "def f():\n    from model import state\n    pickle.load(f); a.pickle.loads(f); print()\n"
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
    assert callers("print") <= {"checker/console/cli.py"}


def test_nothing_runs_text_as_python() -> None:
    assert callers("exec", "eval") == set()


def test_nothing_is_unpickled() -> None:
    modules_with_load = ("pickle", "cPickle", "cloudpickle")
    loads = {f"{name}.{load}" for name in modules_with_load for load in ("load", "loads")}

    assert callers(*loads, "pickle.Unpickler", "load", "loads") == set()


def test_only_the_command_line_ends_the_process() -> None:
    assert callers("sys.exit", "os._exit", "exit", "quit") <= MAY_EXIT


@pytest.mark.parametrize("path", modules(*OURS, "tests"), ids=named)
def test_a_module_fits_its_limit_and_says_what_it_is(path: Path) -> None:
    lines = path.read_text().splitlines()

    assert len(lines) <= LINES_MAX
    assert not lines or path.is_relative_to(ROOT / "tests") or ast.get_docstring(tree(path))
