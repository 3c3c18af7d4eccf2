"""What lies in the working folder is not run: in CI that is a stranger's pull request."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.gate_texts import entry
from tests.support.planted import plant, run_in, run_traps
from waterline.checker.search.engines.processes import search_path

SOURCES = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    plant(made)
    (made / "gate.toml").write_text(entry("one") + entry("two", "records = 1\nepochs = 1\n"))
    return made


def script(folder: Path, text: str) -> Path:
    """A script that lies elsewhere."""
    made = folder.with_name("script.py")
    made.write_text(text)
    return made


def test_a_child_looks_in_the_working_folder_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", "/one", str(tmp_path), "hook", "."])
    elsewhere = search_path()
    monkeypatch.chdir(SOURCES)
    monkeypatch.setattr(sys, "path", ["", "/one"])
    among_our_own = search_path()

    assert elsewhere == ["/one", "hook", *3 * [str(tmp_path)]]
    assert among_our_own == [str(SOURCES), "/one"]


def test_a_gate_as_a_test_runs_nothing_either(folder: Path) -> None:
    text = "import sys, pytest\nsys.exit(pytest.console_main())\n"
    printed = run_in(folder, script(folder, text), "gate.toml", "-p", "no:cacheprovider")

    assert run_traps(folder) == []
    assert "2 passed" in printed
