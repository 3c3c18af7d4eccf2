"""Findings about a configuration in the forms that code review and CI systems show at a line."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from waterline.checker.ci.reports.merge_requests import workflow_command
from waterline.checker.ci.reports.sarif import sarif_document, sarif_result
from waterline.checker.kafka.matrix.findings import ERROR, NOTE, RULES, UNKNOWN, Finding
from waterline.checker.kafka.matrix.matrix import DeploymentAnswer
from waterline.checker.kafka.matrix.properties import describe_topics

_KINDS = {ERROR: "error", NOTE: "notice"}


def to_sarif(findings: Sequence[Finding], *, is_whole: bool) -> str:
    """SARIF 2.1.0. `is_whole`: every fault has a verdict."""
    results = [
        sarif_result(each.rule, each.level, each.message, each.place, _identity(each))
        for each in findings
    ]
    return sarif_document(RULES, {"executionSuccessful": is_whole}, results)


def _identity(finding: Finding) -> str:
    """Return an identity that stays the same if lines before it move, or a bound is raised."""
    return f"{finding.rule}\n{finding.setting}\n{finding.value}\n{finding.topics}"


def to_junit(findings: Sequence[Finding], answer: DeploymentAnswer) -> str:
    """Return a test case for each fault of each class of topics, and for each other finding.

    An undecided fault is skipped: it has not passed.
    """
    suite = ET.Element("testsuite", name="waterline matrix")
    failures = skipped = 0
    for each in answer.answers:
        topics = describe_topics(each.config.topics)
        for outcome in each.matrix.outcomes:
            fault = outcome.fault
            case = ET.SubElement(suite, "testcase", classname=topics, name=fault)
            for finding in findings:
                if finding.topics == topics and fault in finding.faults:
                    failures += _add_failure(case, finding)
                    skipped += finding.rule == UNKNOWN
    for finding in (each for each in findings if not each.faults):
        case = ET.SubElement(suite, "testcase", classname=finding.topics, name=finding.rule)
        failures += _add_failure(case, finding)
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(failures))
    suite.set("skipped", str(skipped))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _add_failure(case: ET.Element, finding: Finding) -> int:
    """Add a failure and return 1; 0 for a skip, or for a loss that no setting prevents."""
    if finding.rule == UNKNOWN:
        ET.SubElement(case, "skipped", message=finding.message)
        return 0
    if finding.level == NOTE:
        ET.SubElement(case, "system-out").text = finding.message
        return 0
    where = f"{finding.place.file}:{finding.place.line}"
    ET.SubElement(case, "failure", message=finding.rule).text = f"{where}\n{finding.message}"
    return 1


def workflow_commands(findings: Sequence[Finding]) -> Iterator[str]:
    """Commands of GitHub Actions, a line for each finding."""
    for finding in findings:
        kind = _KINDS.get(finding.level, "warning")
        yield workflow_command(kind, finding.rule, finding.place, finding.message)
