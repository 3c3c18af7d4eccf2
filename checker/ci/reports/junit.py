"""The outcomes as JUnit XML: a test case an expectation, which CI systems show in place."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.judging import Outcome
from waterline.checker.ci.reports.text import (
    command_of,
    counterexample,
    describe_run,
    headline,
    seconds_of,
)
from waterline.checker.problem.wording import describe_option


def to_junit(outcomes: Sequence[Outcome], left: Sequence[Expectation] = ()) -> str:
    """Return JUnit's XML: a deviation is a failure; an exception or a failed search is an error.

    What an interruption has `left` is an error as well: it has not passed.
    """
    troubles = sum(outcome.trouble is not None for outcome in outcomes)
    failures = sum(not outcome.is_met for outcome in outcomes) - troubles
    suite = ET.Element(
        "testsuite",
        name="waterline gate",
        tests=str(len(outcomes) + len(left)),
        failures=str(failures),
        errors=str(troubles + len(left)),
        time=f"{sum(map(seconds_of, outcomes)):.3f}",
    )
    for outcome in outcomes:
        case = _case(suite, outcome.expectation, seconds_of(outcome))
        if not outcome.is_met:
            kind = "failure" if outcome.trouble is None else "error"
            ET.SubElement(case, kind, message=headline(outcome)).text = _details(outcome)
        options = outcome.expectation.problem.model.options.items()
        described = ", ".join(f"{name} {describe_option(value)}" for name, value in options)
        ET.SubElement(case, "system-out").text = f"{describe_run(outcome)}; {described}"
    for expectation in left:
        ET.SubElement(_case(suite, expectation, 0.0), "error", message="interrupted, not judged")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _details(outcome: Outcome) -> str:
    lines = [complaint.text for complaint in outcome.complaints]
    lines += ["", f"expected at {outcome.expectation.place}", f"shown by {command_of(outcome)}"]
    if shown := counterexample(outcome):
        lines += ["", f"{shown.claim}: {shown.sentence}", shown.text]
    return "\n".join(lines)


def _case(suite: ET.Element, expectation: Expectation, seconds: float) -> ET.Element:
    model = expectation.problem.model
    return ET.SubElement(
        suite,
        "testcase",
        classname=f"{model.name}.{model.version}",
        name=expectation.name,
        time=f"{seconds:.3f}",
    )
