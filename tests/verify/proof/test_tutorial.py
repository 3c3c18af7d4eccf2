"""docs/proof.md: its tutorial, block by block, in an empty folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.test_readme import assert_pasted

pytest.importorskip("z3")

PAGE = (Path(__file__).parents[3] / "docs" / "proof.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"<!-- (file: \S+|lemma|run) -->\n```\w+\n(.+?)```", re.DOTALL)


def test_each_lemma_leads_to_what_is_shown(
    cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    file, runs, lemmas = tmp_path / "none.py", 0, []
    for kind, text in BLOCK.findall(PAGE):
        if kind == "run":
            command, _, shown = text.removeprefix("$ ").partition("\n")
            name, *arguments = command.split()
            assert_pasted(shown, cli(*arguments, name=name)[1])
            runs += 1
        elif kind == "lemma":
            lemmas.append(text.partition("(")[0].removeprefix("def "))
            declared = re.sub(r"lemmas=\[.*?\]", f"lemmas=[{', '.join(lemmas)}]", file.read_text())
            file.write_text(f"{declared}\n\n{text}")
        else:
            file = tmp_path / kind.removeprefix("file: ")
            file.write_text(text)

    assert (runs, lemmas) == (3, ["served_alone", "tickets_differ"])
