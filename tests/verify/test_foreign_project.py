"""The wheel in a project that has modules by the names of our folders: both go on working."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEST = """
import bench.own
import checker
import counterexamples
import fuzz.own
import invariants
import tests.own


def test_own_modules_are_imported():
    modules = [bench.own, checker, counterexamples, fuzz.own, invariants, tests.own]

    assert [module.OWN for module in modules] == [module.__name__ for module in modules]


def test_the_fixture(check_model):
    outcome = check_model("../model.py", verdicts={"one_works": "holds"})

    assert outcome.is_met
"""
GATE = """
[[expect]]
name = "the lock of model.py"
model = "model.py"
engine = "local"
[expect.verdicts]
one_works = "holds"
"""


def run(*command: object, folder: Path) -> subprocess.CompletedProcess[str]:
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [*map(str, command)],
        cwd=folder,
        env=alone,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made of the source distribution, as a registry has both."""
    folder = tmp_path_factory.mktemp("dist")
    made = run(sys.executable, "-m", "build", "--outdir", folder, ROOT, folder=folder)

    assert made.returncode == 0, made.stdout + made.stderr
    [found] = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment: the wheel, and the libraries of this one."""
    place = tmp_path_factory.mktemp("environment")
    programs = place / "bin"
    run(sys.executable, "-m", "venv", "--without-pip", place, folder=place)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python")
    put = (programs / "python", "install", "--no-deps", "--no-index", wheel)
    installed = run(*pip, *put, folder=place)

    assert installed.returncode == 0, installed.stderr
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(programs / "python", "-c", where, folder=place).stdout.strip())
    # A .pth within that folder is not read, so that our editable install is not found there.
    (site / "libraries.pth").write_text(str(Path(pytest.__file__).parents[1]))
    return programs


@pytest.fixture
def project(environment: Path, tmp_path: Path) -> Path:
    """A project whose modules are called as our folders are."""
    for name in ("checker", "counterexamples", "invariants"):
        (tmp_path / f"{name}.py").write_text("OWN = __name__\n")
    for name in ("bench", "fuzz", "tests"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "own.py").write_text("OWN = __name__\n")
    (tmp_path / "conftest.py").touch()
    (tmp_path / "tests" / "test_own.py").write_text(TEST)
    (tmp_path / "gate.toml").write_text(GATE)
    written = run(environment / "waterline", "new", "model", folder=tmp_path)

    assert written.returncode == 0, written.stderr
    return tmp_path


def test_the_wheel_has_one_package(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"waterline"}


def test_its_tests_run_its_gate_is_collected_and_the_fixture_works(
    environment: Path, project: Path
) -> None:
    options = ("--waterline-allow-models", "-p", "no:cacheprovider")
    done = run(
        environment / "python", "-m", "pytest", *options, "tests", "gate.toml", folder=project
    )

    assert "3 passed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


def test_a_model_called_model_is_checked(environment: Path, project: Path) -> None:
    command = ("check", "--model", "model.py", "--engine", "local")
    done = run(environment / "waterline", *command, folder=project)

    assert done.returncode == 0, done.stderr
    assert "HOLDS one_works" in done.stdout


def test_the_plugin_costs_a_foreign_test_run_next_to_nothing(
    environment: Path, project: Path
) -> None:
    """Less than 20 ms: the least of five, since these are not processor seconds."""
    program = ("-X", "importtime", "-c", "import pytest; import waterline.pytest_plugin")
    ended = [run(environment / "python", *program, folder=project) for _ in range(5)]
    lines = [[line.split("|") for line in done.stderr.splitlines()] for done in ended]
    named = [[(name.strip(), int(spent)) for _, spent, name in each[1:]] for each in lines]
    after = [each[[name for name, _ in each].index("pytest") + 1 :] for each in named]

    assert {name for each in after for name, _ in each if name.startswith("waterline")} == {
        "waterline",
        "waterline.pytest_plugin",
    }
    assert min(dict(each)["waterline.pytest_plugin"] for each in after) < 20_000
