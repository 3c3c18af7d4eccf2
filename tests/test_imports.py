"""What a command does not need it does not import: each is run, and asked what it has loaded.

In tests/verify each in a process of its own.
"""

from __future__ import annotations

import functools
import hashlib
import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from waterline.checker.cli import commands
from waterline.checker.user_models.start import start_of
from waterline.counterexamples import NO_CLAIM, Trace, TraceStep, to_json

ROOT = Path(__file__).parent.parent
OURS = {"checker", "counterexamples", "invariants", "model", "waterline"}

LINE = {"click"}
SCREEN = {"click", "rich"}
COMPILER = {"llvmlite"}
SEARCH = {
    *SCREEN,
    *COMPILER,
    "numpy",
}
ARROW = {"pyarrow", "pandas", "dateutil", "pytz"}
"""Pyarrow, and what it imports where that is installed."""
MANIFESTS = {"msgspec", "typing_extensions"}
"""Libraries that commands are allowed, by the names that are imported."""

SPARK = (
    "waterline.checker.search.engines.java",
    "waterline.checker.search.engines.shipping",
    "waterline.checker.search.engines.spark",
)
ENGINES = (
    *SPARK,
    "waterline.checker.search.engines.factory",
    "waterline.checker.search.engines.workers",
    "waterline.checker.search.engines.memory",
)
NO_SEARCH = (
    *ENGINES,
    "waterline.checker.compiler",
    "waterline.checker.analysis.export",
    "waterline.checker.checking.run",
    "waterline.checker.storage",
)
NO_MATRIX = ("waterline.checker.kafka.matrix", "waterline.checker.kafka.scenarios")
"""What commands leave alone of ours: modules whose names begin so."""

HEAVY_OF_RICH = ("markdown_it", "pygments", "rich.markdown", "rich.syntax")
"""Libraries that Rich has for Markdown and programs, and what it uses them in."""

SMALL = "--protocol hw --records 1 --epochs 1 --restarts 0 --moves 0"
TRACE = ROOT / "examples" / "traces" / "hw-no_committed_loss-2r2n2e.json"
"""Of two replicas: an explanation explores its space once for each step that might matter."""
GATE = """
[[expect]]
name = "small"
protocol = "hw"
engine = "local"
records = 1
epochs = 1
restarts = 0
moves = 0
verdicts = { sane = "holds" }
"""

Case = tuple[int, set[str], tuple[str, ...]]
CASES: dict[str, Case] = {
    "waterline": (2, LINE, (*NO_SEARCH, *NO_MATRIX, "waterline.model")),
    "waterline --help": (0, LINE, (*NO_SEARCH, *NO_MATRIX, "waterline.model")),
    "waterline --version": (0, LINE, (*NO_SEARCH, *NO_MATRIX, "waterline.model")),
    "waterline nothing": (2, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    "waterline versions": (0, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    "waterline scenarios": (0, SCREEN, (*NO_SEARCH, "waterline.checker.kafka.matrix")),
    "waterline scenarios kip-101-loss": (0, SCREEN, (*NO_SEARCH, "waterline.checker.kafka.matrix")),
    "waterline view trace.json": (0, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    "waterline run --script loss.steps": (0, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    "waterline compare trace.json --acks 1": (0, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    "waterline compare stuck.json --protocol kip903": (
        0,
        SEARCH,
        (*SPARK, *NO_MATRIX, "waterline.checker.analysis.export"),
    ),
    "waterline explain trace.json --chain": (
        0,
        SEARCH,
        (*SPARK, *NO_MATRIX, "waterline.checker.analysis.export"),
    ),
    f"waterline layout {SMALL}": (0, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    f"waterline kernel {SMALL}": (
        0,
        SCREEN | COMPILER,
        (*ENGINES, *NO_MATRIX, "waterline.checker.checking.run", "waterline.checker.storage"),
    ),
    "waterline export --model lock.py --to tla": (
        0,
        SCREEN | COMPILER,
        (*ENGINES, *NO_MATRIX, "waterline.checker.checking.run", "waterline.checker.storage"),
    ),
    "waterline paths --model lock.py --output lock.jsonl": (
        0,
        SEARCH,
        (
            *SPARK,
            *NO_MATRIX,
            "waterline.checker.analysis.export",
            "waterline.checker.checking.run",
        ),
    ),
    "waterline ties lock.py": (
        15,
        SCREEN | COMPILER,
        (*ENGINES, *NO_MATRIX, "tree_sitter", "waterline.checker.checking.run"),
    ),
    "waterline mutate lock.py --jobs 1 --only guards": (
        3,
        SEARCH,
        (*SPARK, *NO_MATRIX, "waterline.checker.analysis.export"),
    ),
    "waterline gate no.toml": (2, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    "waterline gate gate.toml": (
        3,
        SEARCH,
        (*SPARK, *NO_MATRIX, "waterline.checker.analysis.export"),
    ),
    "waterline scenarios acks-1 --run": (
        0,
        SEARCH,
        (*SPARK, "waterline.checker.kafka.matrix", "waterline.checker.analysis.export"),
    ),
    "waterline matrix --over version --only version=hw --records 1": (
        0,
        SEARCH | {"javaproperties"},
        (
            *SPARK,
            "waterline.checker.search.engines.factory",
            "waterline.checker.search.engines.workers",
            "waterline.checker.analysis.export",
        ),
    ),
    f"waterline simulate {SMALL} --walks 10": (
        0,
        SEARCH,
        (*SPARK, *NO_MATRIX, "waterline.checker.analysis.export"),
    ),
    "waterline states kept --out tables": (
        0,
        SEARCH | MANIFESTS | ARROW,
        (*ENGINES, *NO_MATRIX, "waterline.checker.checking.run"),
    ),
    "waterline certify certificate --engine local --jobs 1": (
        0,
        SCREEN | MANIFESTS | ARROW | {"numpy"},  # numpy is imported by pyarrow
        (
            *ENGINES,
            *NO_MATRIX,
            "waterline.checker.compiler",
            "waterline.checker.checking.run",
            "waterline.checker.analysis.export",
        ),
    ),
    f"check {SMALL} --engine local --certificate certificate": (
        0,
        SEARCH | MANIFESTS | ARROW,
        (*SPARK, "waterline.checker.kafka.matrix", "waterline.checker.analysis.export"),
    ),
    "waterline new lease": (0, SCREEN, (*NO_SEARCH, *NO_MATRIX, "waterline.model.own")),
    "check --model lock.py --engine local": (
        0,
        SEARCH,
        (*SPARK, *NO_MATRIX, "waterline.checker.analysis.export"),
    ),
    "check --model peterson.py --engine local": (
        0,
        SEARCH,
        (*SPARK, *NO_MATRIX, "waterline.checker.analysis.export"),
    ),
    "waterline convert trace.json --to itf": (0, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    "waterline convert trace.json --to svg": (
        0,
        SCREEN | {"jinja2", "markupsafe"},
        (*NO_SEARCH, *NO_MATRIX),
    ),
    "waterline convert trace.json --to dot": (0, SCREEN | {"networkx"}, (*NO_SEARCH, *NO_MATRIX)),
    "waterline view taken.json --model lock.py": (0, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    "check --list": (0, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    "check --protocol raft": (2, SCREEN, (*NO_SEARCH, *NO_MATRIX)),
    f"check {SMALL} --engine local": (
        0,
        SEARCH,
        (
            *SPARK,
            "waterline.checker.kafka.matrix",
            "waterline.checker.analysis.export",
            "waterline.model.own",
        ),
    ),
    f"check {SMALL} --engine local --run-dir kept": (
        0,
        SEARCH | MANIFESTS,
        (*SPARK, "waterline.checker.kafka.matrix", "waterline.checker.analysis.export"),
    ),
    f"check {SMALL} --engine local --html page.html": (
        0,
        SEARCH | {"jinja2", "markupsafe"},
        (*SPARK, "waterline.checker.kafka.matrix", "waterline.checker.analysis.export"),
    ),
    f"check {SMALL} --engine local --graph graph.xml": (
        0,
        SEARCH | {"networkx"},
        (*SPARK, "waterline.checker.kafka.matrix", "waterline.checker.analysis.export"),
    ),
    **{f"waterline {name} --help": (0, SCREEN, NO_SEARCH) for name in commands.COMMANDS},
}
"""For each command its exit code, the libraries that it may load, and what it must not of ours."""

_RUN = """
import json, sys
target = sys.argv.pop(1)
sys.argv = sys.argv[1:]
if sys.argv:
    from waterline.checker.cli.cli import check_main, main
    command = check_main if sys.argv[0] == "check" else main
else:
    def command(): pass
try:
    command()
finally:
    with open(target, "w") as file:
        json.dump(sorted(sys.modules), file)
"""


_WALK = """
import json, sys
target, lines = sys.argv[1], json.loads(sys.argv[2])

def run(line):
    sys.argv = line.split()
    from waterline.checker.cli.cli import check_main, main
    try:
        (check_main if sys.argv[0] == "check" else main)()
    except SystemExit as end:
        return end.code or 0
    return 0

found = [[run(line), sorted(sys.modules)] for line in lines]
with open(target, "w") as file:
    json.dump(found, file)
"""


def walked(lines: Sequence[str], folder: Path) -> list[tuple[object, set[str]]]:
    """Exit code and modules after each of these commands, which one process runs in turn."""
    target = folder / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", _WALK, str(target), json.dumps(lines)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [(code, set(modules)) for code, modules in json.loads(target.read_text())]


def loaded(command: str, folder: Path, **environment: str) -> tuple[int, set[str], str]:
    """Exit code, the modules that a command has imported, and what it said."""
    target = folder / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(target), *command.split()],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env=None if not environment else {**environment},
    )
    return done.returncode, set(json.loads(target.read_text())), done.stdout + done.stderr


@functools.cache
def always_loaded(folder: Path) -> frozenset[str]:
    """What this Python loads by itself, by the names of libraries: what .pth files name, say."""
    return frozenset(top_level(loaded("", folder)[1]))


def top_level(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def libraries_in(modules: set[str], folder: Path) -> set[str]:
    """The libraries that these modules are of; Python's own, and ours, are none."""
    # Compiled modules of numpy's and of msgspec's import names of their own making.
    found = top_level({name for name in modules if not name.startswith(("_", "cython_runtime"))})
    return found - OURS - sys.stdlib_module_names - always_loaded(folder)


def beginning_with(prefixes: tuple[str, ...], modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith(prefixes)}


def taken() -> Trace:
    """A step of lock.py, which breaks nothing."""
    digest = hashlib.sha256(start_of("lock").encode()).hexdigest()[:16]
    bounds = {"clients": 3, "crashes": 1, "sha256": digest}
    step = TraceStep("take", (("client", 0),))
    return Trace(
        model="lock.py",
        version="lock",
        environment=bounds,
        invariant=NO_CLAIM,
        initial=0,
        steps=(step,),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a command finds the files that it is told of."""
    (tmp_path / "gate.toml").write_text(GATE)
    (tmp_path / "lock.py").write_text(start_of("lock"))
    (tmp_path / "taken.json").write_text(to_json(taken()))
    (tmp_path / "trace.json").write_bytes(TRACE.read_bytes())
    stuck = ROOT / "examples" / "traces" / "scenarios" / "stuck-below-min-isr.json"
    (tmp_path / "stuck.json").write_bytes(stuck.read_bytes())
    script = ROOT / "examples" / "scripts" / "kip-101-loss.steps"
    (tmp_path / "loss.steps").write_bytes(script.read_bytes())
    (tmp_path / "peterson.py").write_bytes((ROOT / "examples" / "peterson.py").read_bytes())
    return tmp_path


def lean() -> list[str]:
    """Commands that search nothing, in an order in which each may load what earlier ones may."""
    found = [
        command
        for command, (_, allowed, forbidden) in CASES.items()
        if allowed <= SCREEN and set(NO_SEARCH) <= set(forbidden)
    ]
    found.sort(key=lambda command: (len(CASES[command][1]), -len(CASES[command][2])))
    for (_, less, many), (_, more, few) in pairwise(CASES[command] for command in found):
        assert less <= more
        assert all(name.startswith(many) for name in few)
    return found


def test_commands_that_search_nothing_load_no_engine(folder: Path) -> None:
    """One process runs all of them."""
    wrong = {}
    for command, (code, modules) in zip(lean(), walked(lean(), folder), strict=True):
        if found := unexpected(command, code, modules, folder):
            wrong[command] = found

    assert len(lean()) > 30
    assert wrong == {}


@pytest.mark.parametrize(
    "command",
    [
        "waterline gate gate.toml",
        "check --model lock.py --engine local",
        f"check {SMALL} --engine local",
        "waterline convert trace.json --to svg",
    ],
)
def test_a_command_imports_only_what_it_uses(command: str, folder: Path) -> None:
    code, modules, told = loaded(command, folder)

    assert unexpected(command, code, modules, folder) == [], told


def unexpected(command: str, code: object, modules: set[str], folder: Path) -> list[str]:
    """What a command has loaded and may not; also its exit code, if it is another."""
    expected, allowed, forbidden = CASES[command]
    return [
        *([f"exit code {code}"] if code != expected else []),
        *sorted(libraries_in(modules, folder) - allowed),
        *sorted(beginning_with((*forbidden, *HEAVY_OF_RICH), modules)),
    ]


def test_what_a_shell_completes_is_told_without_an_engine(folder: Path) -> None:
    assert_completes("waterline check --driver", 2, {"--driver-levels"}, folder)


def assert_completes(words: str, last: int, expected: set[str], folder: Path) -> None:
    """What a shell is told, by a process that has loaded no engine."""
    asked = {
        "_WATERLINE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(last),
    }
    code, modules, told = loaded("waterline", folder, **asked)

    assert code == 0
    assert {line.partition(",")[2] for line in told.split()} == expected
    assert libraries_in(modules, folder) - SCREEN == set()
    assert beginning_with((*NO_SEARCH, *NO_MATRIX), modules) == set()


def test_every_command_has_a_module_and_a_place_in_the_list() -> None:
    folder = ROOT / "checker" / "cli"
    declared = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if "@click.command(" in path.read_text()
    }

    assert {module for module, _ in commands.COMMANDS.values()} == declared
    assert all(commands.command_of(name).name == name for name in commands.COMMANDS)


def test_an_import_at_the_top_would_be_seen(folder: Path) -> None:
    """As if somebody had written it there: the same command, and one library more."""
    _, modules, _ = loaded("waterline --help", folder)
    networkx = {*modules, "networkx", "networkx.classes"}

    assert libraries_in(networkx, folder) == {"click", "networkx"}
