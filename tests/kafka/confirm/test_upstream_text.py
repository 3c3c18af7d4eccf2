"""The texts for JIRA show the tests that are run, and reports of Maven are read as meant."""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from bench.upstream import (
    TESTS,
    FailingTest,
    compiled_against,
    is_as_told,
    numbers,
    outcomes,
    patches,
    sources_for,
    text_of,
)

UPSTREAM = Path(__file__).parents[3] / "docs" / "upstream"
HEADER = "/*\n * Licensed to the Apache Software Foundation (ASF)"
each_test = pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)


def report(outcome_of: dict[str, str]) -> str:
    def case(name: str, message: str) -> str:
        problem = f"<failure message={quoteattr(message)}/>" if message else ""
        return f"<testcase name={quoteattr(name)}><system-out/>{problem}</testcase>"

    return f"<testsuite>{''.join(case(*each) for each in outcome_of.items())}</testsuite>"


def as_told_of(test: FailingTest) -> dict[str, str]:
    failed = {name: f"{begins} ==> expected: <0>" for name, begins in test.fails.items()}
    return failed | dict.fromkeys(test.passes, "")


@each_test
def test_the_outcomes_that_are_waited_for_are_those_of_tests_there_are(test: FailingTest) -> None:
    text = text_of(f"{test.name}.scala", "4.3.1")

    assert text.startswith(HEADER)
    assert sorted(re.findall(r"@Test\n  def (\w+)", text)) == list(test.methods)


@each_test
def test_each_method_says_whether_it_fails(test: FailingTest) -> None:
    said = re.findall(
        r"(Fails|Passes): [^@]*@Test\n  def (\w+)", text_of(f"{test.name}.scala", "4.3.1")
    )

    assert {name for word, name in said if word == "Fails"} == set(test.fails)
    assert {name for word, name in said if word == "Passes"} == set(test.passes)


def test_each_text_shows_the_tests_that_are_run() -> None:
    for ticket in {test.ticket for test in TESTS}:
        text = (UPSTREAM / ticket).read_text(encoding="utf-8")
        shown = re.findall(r"```scala\n(.*?)```", text, re.DOTALL)
        tests = [test for test in TESTS if test.ticket == ticket]

        assert shown == [text_of(f"{tests[0].name}.scala", "4.3.1")]
        assert all(f"{test.name}.scala" in text for test in tests)


@each_test
def test_each_text_shows_the_outcome_of_every_method(test: FailingTest) -> None:
    text = (UPSTREAM / test.ticket).read_text(encoding="utf-8")
    outputs = "".join(re.findall(r"```text\n(.*?)```", text, re.DOTALL))

    for name in test.methods:
        said = f"fails: {test.fails[name]}" if name in test.fails else "passes"
        assert f"4.3.1 {test.name}.{name}: {said}" in outputs


@each_test
def test_only_the_outcomes_of_the_ticket_are_as_told(test: FailingTest) -> None:
    told = as_told_of(test)
    wrong, right = next(iter(test.fails)), test.passes[0]

    assert outcomes(report(told)) == told
    assert is_as_told(test, outcomes(report(told)))
    assert not is_as_told(test, told | {wrong: ""})
    assert not is_as_told(test, told | {wrong: "java.lang.NoSuchMethodError"})
    assert not is_as_told(test, told | {right: "java.lang.NoSuchMethodError"})
    assert not is_as_told(test, {name: told[name] for name in told if name != right})
    assert not is_as_told(test, told | {"testOther": ""})
    assert not is_as_told(test, {})


@each_test
def test_with_the_patch_every_test_has_to_pass(test: FailingTest) -> None:
    assert is_as_told(test, dict.fromkeys(test.methods, ""), patched=True)
    assert not is_as_told(test, as_told_of(test), patched=True)


def test_every_ticket_has_a_patch_of_a_source_that_is_compiled() -> None:
    changed = re.findall(r"(?m)^\+\+\+ b/(\S+)", patches())

    assert len(changed) == len({test.ticket for test in TESTS})
    assert all(re.match(r"(core/src/main/scala|storage/src/main/java)/", name) for name in changed)


def test_a_release_is_compiled_with_the_imports_of_its_own() -> None:
    name = "MissedLeaderEpochTest.scala"

    assert sources_for("4.3.0")[name] == (UPSTREAM / name).read_text(encoding="utf-8")
    assert "import org.apache.kafka.common.record.{" in sources_for("4.2.1")[name]
    assert ".internal." not in sources_for("3.9.2")[name]
    assert "package.scala" not in sources_for("4.2.0")
    assert "import org.apache.kafka.storage." in sources_for("4.1.2")["package.scala"]
    assert "import kafka.server.checkpoints." in sources_for("3.9.2")["package.scala"]


def test_a_release_is_given_the_tests_that_compile_against_it() -> None:
    assert numbers("4.10.0") > numbers("4.9.1")
    assert compiled_against("4.3.1") == TESTS
    assert {test.name for test in compiled_against("3.9.2")} == {
        "MissedLeaderEpochTest",
        "StaleEpochAppendTest",
    }
