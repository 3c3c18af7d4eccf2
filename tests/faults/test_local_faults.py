"""A run that is stopped, or whose files are hurt, ends in the same counts or says why not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command import facts
from tests.support.commands import Commands

SMALL = ("--protocol", "hw", "--engine", "local")
Checked = Callable[..., tuple[int, str, str]]


@pytest.fixture
def checked(cli: Commands) -> Checked:
    """Runs `check`, in this process, and has its report as JSON."""
    return lambda *arguments: cli(*arguments, "--format", "json")


@pytest.fixture(scope="module")
def kept_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a run is kept of which each test has a copy."""
    return tmp_path_factory.mktemp("stopped") / "run"


@pytest.fixture
def stopped(kept_once: Path, checked: Checked, tmp_path: Path) -> Path:
    """A run that a budget stopped after some levels."""
    if not kept_once.exists():
        checked(*SMALL, "--run-dir", kept_once, "--max-depth", 20)
    return Path(shutil.copytree(kept_once, tmp_path / "run"))


def test_a_run_stopped_by_a_budget_goes_on(stopped: Path, checked: Checked) -> None:
    code, out, _ = checked("--resume", stopped, "--engine", "local")

    assert code == 12
    assert facts(out) == facts(checked(*SMALL)[1])


def test_a_run_up_to_symmetry_goes_on_up_to_symmetry(tmp_path: Path, checked: Checked) -> None:
    few = ("--grain", "atomic", "--protocol", "kip320", "--engine", "local", "--symmetry", "all")
    _, _, told = checked(*few, "--run-dir", tmp_path / "run", "--max-depth", 9)
    code, out, _ = checked("--resume", tmp_path / "run", "--engine", "local")

    assert f"go on with --resume {tmp_path / 'run'}" in told
    assert code == 12
    assert facts(out) == facts(checked(*few)[1])


def hurt_by_cutting(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 16)


def hurt_by_tearing(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 5)


def hurt_by_a_flipped_bit(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(data)


@pytest.mark.parametrize(
    ("hurt", "says"),
    [
        (hurt_by_cutting, "has 1,290 states, 1,291 were written"),
        (hurt_by_tearing, "is cut short"),
        (hurt_by_a_flipped_bit, "its checksum differs"),
        (Path.unlink, "is missing"),
    ],
    ids=["truncated", "torn", "bit-flipped", "missing"],
)
def test_a_hurt_level_file_is_named_and_nothing_is_counted(
    hurt: object, says: str, stopped: Path, checked: Checked
) -> None:
    (file,) = (stopped / "level-00012").iterdir()
    hurt(file)  # type: ignore[operator]

    code, out, err = checked("--resume", stopped, "--engine", "local")

    assert code == 2
    assert out == ""
    assert f"level-00012/{file.name} " in err
    assert says in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize("cut", [0, 50, 3000])
def test_a_damaged_manifest_is_named(cut: int, stopped: Path, checked: Checked) -> None:
    manifest = stopped / "manifest.json"
    manifest.write_text(manifest.read_text()[:cut])

    code, out, err = checked("--resume", stopped, "--engine", "local")

    assert (code, out) == (2, "")
    assert "manifest.json is damaged" in err


def test_a_directory_that_holds_a_run_is_not_begun_again(stopped: Path, checked: Checked) -> None:
    code, _, err = checked(*SMALL, "--run-dir", stopped)

    assert code == 2
    assert "holds a run already; continue it with --resume" in err


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--records", 3), "--records 3 is not what"),
        (("--protocol", "epoch"), "--protocol epoch is not what"),
        (("--grain", "atomic"), "--grain atomic is not what"),
        (("--invariant", "sane"), "--invariant"),
        (("--symmetry", "records"), "--symmetry records is not what"),
        (("--min-insync-replicas", 2), "--min-insync-replicas 2 is not what"),
    ],
)
def test_a_resume_with_other_options_is_refused_by_name(
    options: tuple[object, ...], names: str, stopped: Path, checked: Checked
) -> None:
    before = (stopped / "manifest.json").read_bytes()

    code, out, err = checked("--resume", stopped, "--engine", "local", *options)

    assert (code, out) == (2, "")
    assert names in err
    assert (stopped / "manifest.json").read_bytes() == before


def test_a_resume_may_repeat_its_options(stopped: Path, checked: Checked) -> None:
    code, _, _ = checked("--resume", stopped, *SMALL, "--environment", "documented")

    assert code == 12


def test_a_run_of_a_version_with_features_switched_is_resumed(
    tmp_path: Path, checked: Checked
) -> None:
    directory, space = tmp_path / "run", ("--engine", "local", "--records", 1, "--epochs", 2)
    version = ("--protocol", "kip320", "--without", "fencing", "--moves", 2)
    whole = checked(*version, *space)
    checked(*version, *space, "--run-dir", directory, "--max-depth", 6)

    resumed = checked("--resume", directory, "--engine", "local")

    assert resumed[0] == whole[0]
    assert facts(resumed[1]) == facts(whole[1])


def test_a_run_can_be_moved(stopped: Path, tmp_path: Path, checked: Checked) -> None:
    moved = tmp_path / "elsewhere"
    shutil.move(stopped, moved)

    code, _, _ = checked("--resume", moved, "--engine", "local")

    assert code == 12


def test_a_run_is_kept_and_resumed_by_its_uri(tmp_path: Path, checked: Checked) -> None:
    location = f"file://{tmp_path}/run"
    checked(*SMALL, "--run-dir", location, "--max-depth", 20)

    code, out, _ = checked("--resume", location, "--engine", "local", "--memory", "1M")

    assert code == 12
    assert "memory" in out
    code, out, _ = checked("--resume", location, "--engine", "local")
    assert facts(out) == facts(checked(*SMALL)[1])
