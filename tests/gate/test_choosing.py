"""What a change can reach is run, and nothing that can be reached is left out."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest
from gate_texts import entry, read

from checker.console.gate.asking import asking
from checker.gate import choosing
from checker.gate.choosing import BadChoice, changed_since
from checker.gate.reading import read_gate

ROOT = Path(__file__).parents[2]
MODEL = (ROOT / "examples" / "die_hard.py").read_text()
OWN = (
    '[[expect]]\nname = "jugs"\nmodel = "die_hard.py"\nengine = "local"\n'
    'verdicts = { not_yet_measured = "violated" }\n'
)


def git(folder: Path, *arguments: str) -> None:
    name = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a gate and a model, committed."""
    (tmp_path / "gate.toml").write_text(entry("epoch") + OWN)
    (tmp_path / "die_hard.py").write_text(MODEL)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def chosen(project: Path) -> list[str]:
    gate = project / "gate.toml"
    expectations = read_gate(gate, asking(), allow_models=True)
    found, _ = changed_since(expectations, "HEAD", [gate])
    return [each.name for each in found]


def test_nothing_changed_is_nothing_run(project: Path) -> None:
    (project / "notes.md").write_text("a remark")

    assert chosen(project) == []


def test_a_changed_model_and_a_changed_entry_are_run(project: Path) -> None:
    (project / "die_hard.py").write_text(MODEL + "\n# later\n")
    of_model = chosen(project)
    (project / "die_hard.py").write_text(MODEL)
    text = (project / "gate.toml").read_text()
    (project / "gate.toml").write_text(text.replace("records = 1", "records = 2"))
    of_entry = chosen(project)
    (project / "gate.toml").write_text("[defaults]\nthreads = 1\n" + text)

    assert of_model == ["jugs"]
    assert of_entry == ["epoch"]
    assert chosen(project) == ["epoch", "jugs"]


@pytest.mark.parametrize("reference", ["--output=x", "nothing"])
def test_what_is_no_commit_is_refused(reference: str, project: Path) -> None:
    with pytest.raises(BadChoice, match="--changed-since"):
        changed_since(read(entry()), reference, [project / "gate.toml"])


def edited(text: str, function: str, what: str) -> str:
    """A module with one thing changed: a statement more in a function, or its docstring."""
    tree = ast.parse(text)
    [found] = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function]
    if what == "statement":
        found.body.append(ast.Pass())
    else:
        found.body[0] = ast.Expr(ast.Constant("Another docstring."))
    return ast.unparse(tree)


def names_after(name: str, before: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which expectations are run when a source of ours was `before` at the commit."""

    def told(folder: Path, *arguments: str) -> str:
        match arguments[0]:
            case "rev-parse" if "--show-toplevel" in arguments:
                return f"{ROOT}\n"
            case "diff":
                return f"{name}\0"
            case "show":
                return before
        return ""

    monkeypatch.setattr(choosing, "_git", told)
    versions = ("hw", "kip320", "kraft")
    text = "".join(entry(name).replace('"epoch"', f'"{name}"') for name in versions)
    found, _ = changed_since(read(text), "HEAD", [ROOT / "gate.toml"])
    return [each.name for each in found]


ALL = ["hw", "kip320", "kraft"]


@pytest.mark.parametrize(
    ("name", "function", "what", "expected"),
    [
        ("model/message/isr.py", "alter_partition", "statement", ["kraft"]),
        ("model/message/isr.py", "alter_partition", "docstring", []),
        ("model/message/truncation.py", "offset_for_leader_epoch", "statement", ["kip320"]),
        ("model/message/truncation.py", "truncate", "statement", ALL),
        ("model/message/versions.py", "version_of", "statement", ALL),
        ("invariants/valid_isr.py", "holds", "statement", ["kraft"]),
        ("checker/search.py", "search", "statement", ALL),
        ("checker/console/check/report.py", "render_run", "statement", []),
    ],
)
def test_a_rule_reaches_who_calls_it_and_what_is_no_rule_reaches_all(
    name: str, function: str, what: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = edited((ROOT / name).read_text(), function, what)
    monkeypatch.setattr(choosing, "_changed_entries", lambda gate, commit: set())

    assert names_after(name, before, monkeypatch) == expected


def test_a_changed_configuration_is_asked_about_again(project: Path) -> None:
    (project / "server.properties").write_text("process.roles=broker\n")
    text = entry("set", more="faults = ['one crash']\n")
    (project / "gate.toml").write_text(
        text.replace("protocol", "config").replace('"epoch"', '"server.properties"')
    )
    git(project, "add", ".")
    git(project, "commit", "-qm", "second")
    before = chosen(project)
    (project / "server.properties").write_text("process.roles=broker\nmin.insync.replicas=2\n")

    assert before == []
    assert chosen(project) == ["set [one crash]"]
