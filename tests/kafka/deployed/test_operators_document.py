"""The examples of docs/operators.md print what the document shows; tests/verify runs each."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.support.commands import Commands

FOLDER = Path(__file__).parents[2] / "golden" / "deployed"
DOCUMENT = (Path(__file__).parents[3] / "docs" / "operators.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"<!-- example -->\n```console\n\$ (.*?)\n(.*?)```", DOCUMENT, re.DOTALL)
BEGUN = re.findall(
    r"<!-- example: the beginning -->\n```console\n\$ (.*?)\n(.*?)```", DOCUMENT, re.DOTALL
)
LOGS = Path(__file__).parents[1] / "logs" / "recorded" / "3.9.1-c21"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in FOLDER.iterdir():
        shutil.copy(path, tmp_path)
    shutil.copytree(LOGS, tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def test_every_example_of_the_document_is_run() -> None:
    assert len(EXAMPLES) + len(BEGUN) == DOCUMENT.count("$ waterline") == 6


def assert_printed_as_shown(command: str, printed: str, cli: Commands) -> None:
    name, *arguments = shlex.split(command)
    code, out, _ = cli(*arguments, name=name)

    assert code == 12
    assert out == printed


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "printed"),
    [pytest.param(*each, id=each[0]) for each in EXAMPLES if "--config cluster.json" in each[0]],
)
def test_an_example_prints_what_the_document_shows(
    command: str, printed: str, cli: Commands
) -> None:
    assert_printed_as_shown(command, printed, cli)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("command", "printed"), BEGUN, ids=[c for c, _ in BEGUN])
def test_an_example_begins_as_the_document_shows(command: str, printed: str, cli: Commands) -> None:
    name, *arguments = shlex.split(command)
    code, out, _ = cli(*arguments, name=name)

    assert code == 12
    shown = printed.splitlines()
    assert len(shown) > 10
    assert [line.rstrip() for line in out.splitlines()[: len(shown)]] == shown
