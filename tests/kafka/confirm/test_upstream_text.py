"""The text for JIRA shows the test that is run, and Maven's report of it is read as it is meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.upstream import FAILS, PASSES, api_of, is_as_told, outcomes

UPSTREAM = Path(__file__).parents[3] / "docs" / "upstream"
TEXT = (UPSTREAM / "C21.md").read_text(encoding="utf-8")
TEST = (UPSTREAM / "MissedLeaderEpochTest.scala").read_text(encoding="utf-8")
FAILED = "high watermark ==> expected: <0> but was: <1>"


def report(*, fails: str, passes: str) -> str:
    def case(name: str, message: str) -> str:
        problem = f"<failure message='{message}'/>" if message else ""
        return f"<testcase name='{name}'><system-out/>{problem}</testcase>"

    return f"<testsuite>{case(FAILS, fails)}{case(PASSES, passes)}</testsuite>"


def test_the_text_shows_the_files_that_are_run() -> None:
    newest = (UPSTREAM / "api" / "4.2" / "LeaderDecisions.scala").read_text(encoding="utf-8")

    assert re.findall(r"```scala\n(.*?)```", TEXT, re.DOTALL) == [TEST, newest]


def test_the_outcomes_that_are_waited_for_are_those_of_tests_there_are() -> None:
    assert re.findall(r"@Test\n  def (\w+)", TEST) == [FAILS, PASSES]


def test_only_a_wrong_high_watermark_beside_a_control_that_passes_is_as_told() -> None:
    wrong = FAILED.replace("<", "&lt;").replace(">", "&gt;")

    assert outcomes(report(fails=wrong, passes="")) == {FAILS: FAILED, PASSES: ""}
    assert is_as_told(outcomes(report(fails=wrong, passes="")))
    assert not is_as_told(outcomes(report(fails="", passes="")))
    assert not is_as_told(outcomes(report(fails=wrong, passes=wrong)))
    assert not is_as_told(outcomes(report(fails="java.lang.NoSuchMethodError", passes="")))
    assert not is_as_told({})


@pytest.mark.parametrize(
    ("kafka", "api"), [("3.9.1", "3.9"), ("4.0.0", "4.0"), ("4.1.0", "4.0"), ("4.2.0", "4.2")]
)
def test_a_release_is_compiled_with_the_decisions_of_its_own_form(kafka: str, api: str) -> None:
    assert api_of(kafka) == api
    assert (UPSTREAM / "api" / api / "LeaderDecisions.scala").is_file()
