"""The files and snippets for CI systems are what those systems read."""

from __future__ import annotations

import importlib.resources
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pre_commit import clientlib
from yamllint import linter
from yamllint.config import YamlLintConfig

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
SNIPPETS = dict(re.findall(r"<!-- file: (\S+) -->\n```yaml\n(.+?)```", DOCUMENT, re.DOTALL))
SCHEMAS = {
    ".github/workflows/waterline.yml": "github-workflows.json",
    ".gitlab-ci.yml": "gitlab-ci.json",
    "action.yml": "github-actions.json",
}
FILES = {
    **SNIPPETS,
    "action.yml": (ROOT / "action.yml").read_text(encoding="utf-8"),
    ".pre-commit-hooks.yaml": (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"),
}
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
    misspelt = FILES[name].replace("uses:", "use:").replace("script:", "scripts:")

    assert complaints(name, FILES[name]) == []
    assert complaints(name, misspelt) != []


def test_the_hook_is_one_that_pre_commit_reads() -> None:
    [hook] = clientlib.load_manifest(str(ROOT / ".pre-commit-hooks.yaml"))

    assert hook["id"] in FILES[".pre-commit-config.yaml"]
