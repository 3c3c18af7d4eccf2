"""Files and snippets for CI systems, GitHub and containers are what those read, and agree."""

from __future__ import annotations

import importlib.resources
import json
import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pre_commit import clientlib
from yamllint import linter
from yamllint.config import YamlLintConfig

from waterline.checker.cli.matrix import matrix_command

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
OPERATORS = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
_SNIPPET = re.compile(r"<!-- file: (\S+) -->\n```yaml\n(.+?)```", re.DOTALL)
SNIPPETS = dict(_SNIPPET.findall(DOCUMENT))
OF_OPERATORS = dict(_SNIPPET.findall(OPERATORS))
SCHEMAS = {
    ".github/workflows/waterline.yml": "github-workflows.json",
    ".gitlab-ci.yml": "gitlab-ci.json",
    "action.yml": "github-actions.json",
    "config/action.yml": "github-actions.json",
    ".github/workflows/kafka-settings.yml": "github-workflows.json",
    ".github/ISSUE_TEMPLATE/wrong-verdict.yml": "github-issue-forms.json",
    "CITATION.cff": "citation-file-format.json",
}
FILES = {
    **OF_OPERATORS,
    **SNIPPETS,
    **{
        name: (ROOT / name).read_text(encoding="utf-8")
        for name in (
            "config/action.yml",
            "action.yml",
            ".pre-commit-hooks.yaml",
            ".github/ISSUE_TEMPLATE/wrong-verdict.yml",
            "CITATION.cff",
        )
    },
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
STYLE = (
    "{extends: default, rules: {document-start: disable, line-length: {max: 110}, "
    "truthy: {check-keys: false}}}"
)


def complaints(name: str, text: str) -> list[str]:
    schema = (
        importlib.resources.files("check_jsonschema.builtin_schemas") / "vendor" / SCHEMAS[name]
    )
    validator = jsonschema.validators.validator_for(json.loads(schema.read_text()))
    errors = validator(json.loads(schema.read_text())).iter_errors(as_json(yaml.safe_load(text)))
    return [error.message for error in errors]


def as_json(value: Any) -> Any:
    """As YAML 1.2 has it, where `on` is a word: to PyYAML it is true."""
    if isinstance(value, dict):
        return {"on" if key is True else key: as_json(each) for key, each in value.items()}
    return [as_json(each) for each in value] if isinstance(value, list) else value


def test_every_yaml_of_the_document_is_a_file() -> None:
    assert len(SNIPPETS) == DOCUMENT.count("```yaml") == 3


@pytest.mark.parametrize("name", FILES)
def test_yaml_is_as_its_linter_wants_it(name: str) -> None:
    assert list(linter.run(FILES[name], YamlLintConfig(STYLE))) == []


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_file_is_of_the_schema_of_its_system(name: str) -> None:
    misspelt = re.sub(r"(uses|script|attributes|authors):", r"\1x:", FILES[name])

    assert complaints(name, FILES[name]) == []
    assert complaints(name, misspelt) != []


def test_the_hooks_are_such_that_pre_commit_reads() -> None:
    gate, config = clientlib.load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))

    assert gate["id"] in FILES[".pre-commit-config.yaml"]
    assert config["id"] in OF_OPERATORS[".pre-commit-config.yaml"]


def test_the_hook_and_the_action_about_settings_run_a_command_that_there_is() -> None:
    _, config = clientlib.load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))
    options = {option for param in matrix_command.params for option in param.opts}
    action = yaml.safe_load(FILES["config/action.yml"])
    told = f"{action['inputs']} {action['runs']['steps'][-1]['run']}"
    given = yaml.safe_load(OF_OPERATORS[".github/workflows/kafka-settings.yml"])
    [step] = [s for s in given["jobs"]["settings"]["steps"] if "waterline" in s.get("uses", "")]

    assert config["entry"].split()[:2] == ["waterline", "matrix"]
    assert set(re.findall(r"--[a-z-]+", config["entry"] + " ".join(config["args"]))) <= options
    assert set(re.findall(r"(?<=[ (])--[a-z][a-z-]+", told)) <= options
    assert step["with"].keys() <= action["inputs"].keys()


def test_every_document_has_the_address_and_the_version_of_pyproject() -> None:
    """An owner is written once, in [project.urls]; what is pinned is this version."""
    address = PROJECT["urls"]["Repository"]
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for folder in (ROOT, ROOT / "docs")
        for path in folder.glob("*.md")
    } | FILES
    places = re.compile(
        r"(?:github\.com/|uses: )([\w-]+/waterline)\b(?:/config)?(?:@([\w.]+)|\s+rev: (\S+))?"
    )
    found = [
        (name, f"https://github.com/{place}", at or rev or "")
        for name, text in texts.items()
        for place, at, rev in places.findall(text)
    ]

    assert len(found) > 7
    assert [each for each in found if each[1] != address] == []
    assert {version for *_, version in found} == {"", f"v{PROJECT['version']}"}
    assert all(url.startswith(address) for url in PROJECT["urls"].values())


def test_a_citation_names_this_version_and_address() -> None:
    citation = yaml.safe_load(FILES["CITATION.cff"])
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert citation["version"] == PROJECT["version"]
    assert citation["authors"] == PROJECT["authors"]
    assert citation["license"] == PROJECT["license"]
    assert f"## [{citation['version']}] - {citation['date-released']}\n" in changelog


def test_the_image_runs_the_main_job_and_is_built_from_all_that_the_wheel_needs() -> None:
    words = (ROOT / "Containerfile").read_text(encoding="utf-8")
    [entry] = re.findall(r"^ENTRYPOINT (.+)$", words, re.MULTILINE)
    [command] = re.findall(r"^CMD (.+)$", words, re.MULTILINE)
    [job] = re.findall(
        r"^check:.*\n\t\$\(BIN\)/(.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    sent = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    [extras] = re.findall(r"^ARG EXTRAS=(.+)$", words, re.MULTILINE)
    linked = {path.readlink().name for path in (ROOT / "waterline").iterdir() if path.is_symlink()}

    assert [*json.loads(entry), *json.loads(command)] == job.split()
    assert sent == {"pyproject.toml", "README.md", "LICENSE", "waterline"} | linked
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()


def test_a_job_runs_no_module_of_the_checkout() -> None:
    """Python with -m looks in the working folder first, unless -P says otherwise."""
    started = [
        line
        for text in (FILES["action.yml"], FILES["config/action.yml"], DOCUMENT, OPERATORS)
        for line in re.findall(r"python3? .*-m .*", text)
    ]

    assert len(started) == 3
    assert [line for line in started if " -P -m " not in line] == []


ACTIONS = ("action.yml", "config/action.yml")


def steps(action: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(FILES[action])["runs"]["steps"]
    return found


@pytest.mark.parametrize("action", ACTIONS)
def test_what_an_action_uses_is_named_by_its_commit(action: str) -> None:
    """A tag can be moved to other code, the name of a commit cannot."""
    used = re.findall(r"uses: (\S+)(.*)", FILES[action])

    assert len(used) == sum("uses" in step for step in steps(action)) == 3
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", name) for name, _ in used)
    assert all(re.fullmatch(r"  # v\d+\.\d+\.\d+", remark) for _, remark in used)


@pytest.mark.parametrize("action", ACTIONS)
def test_another_python_or_other_libraries_are_another_environment(
    action: str, tmp_path: Path
) -> None:
    (tmp_path / "config").mkdir()
    [naming] = [step for step in steps(action) if step.get("id") == "environment"]

    def key(python: str, libraries: str) -> str:
        (tmp_path / "pyproject.toml").write_text(libraries)
        (tmp_path / "outputs").write_text("")
        place = tmp_path / "config" / ".." if action.startswith("config") else tmp_path
        given = {"SOURCE": str(place), "PYTHON": python, "EXTRAS": ""}
        run(naming["run"], tmp_path, GITHUB_OUTPUT=str(tmp_path / "outputs"), **given)
        return (tmp_path / "outputs").read_text()

    keys = [key("3.12.1", "a"), key("3.12.2", "a"), key("3.12.1", "b")]

    assert all(re.fullmatch(r"key=[0-9a-f]{40}\n", each) for each in keys)
    assert len({*keys}) == 3
    assert key("3.12.1", "a") == keys[0]


@pytest.mark.parametrize("action", ACTIONS)
def test_an_environment_that_was_cached_gets_the_sources_of_this_action(
    action: str, tmp_path: Path
) -> None:
    """With a Python that notes how it is called, and makes an environment whose pip does too."""
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\necho python "$@" >> "$RUNNER_TEMP/called"\nmkdir -p "$4/bin"\n'
        'printf \'#!/bin/sh\\necho pip "$@" >> "$RUNNER_TEMP/called"\' > "$4/bin/pip"\n'
        'chmod +x "$4/bin/pip"\n'
    )
    python.chmod(0o755)
    *_, install, _ = steps(action)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    for _ in range(2):
        run(install["run"], tmp_path, RUNNER_TEMP=str(tmp_path), SOURCE="/sources", PATH=path)

    assert (tmp_path / "called").read_text().splitlines() == [
        f"python -P -m venv {tmp_path}/waterline",
        "pip install /sources",
        "pip install /sources",
    ]


def run(script: str, folder: Path, **environment: str) -> str:
    """What a step prints, run as GitHub does."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_words_of_the_action_reach_the_command_as_words(tmp_path: Path) -> None:
    """The script of the last step, with a command that prints what it is given."""
    bin_folder = tmp_path / "waterline" / "bin"
    bin_folder.mkdir(parents=True)
    command = bin_folder / "waterline"
    command.write_text("#!/bin/sh\nprintf '<%s>' \"$@\"\n")
    command.chmod(0o755)
    [*_, last] = steps("config/action.yml")
    given = {
        "RUNNER_TEMP": str(tmp_path),
        "FILES": "kafka $(touch/x)",
        "ARGUMENTS": "--quick",
        "KAFKA_VERSION": "3.9:kraft",
        "FAIL_ON": "setting",
        "SARIF": "a.sarif",
    }
    printed = run(last["run"], tmp_path, **given)

    assert printed == (
        "<matrix><--config><kafka><--config><$(touch/x)><--fail-on><setting><--github>"
        "<--sarif><a.sarif><--quick><--kafka-version><3.9:kraft>"
    )
