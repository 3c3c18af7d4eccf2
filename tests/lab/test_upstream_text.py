"""The texts for JIRA show the tests that are run, and reports of Maven are read as meant."""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest

from lab.bench.upstream import (
    REGISTRATIONS,
    TESTS,
    Context,
    FailingTest,
    Fails,
    compiled_against,
    is_as_told,
    numbers,
    outcomes,
    patches,
    patches_in,
    said_of,
    sources_for,
    text_of,
)

UPSTREAM = Path(__file__).parents[2] / "docs" / "upstream"
HEADER = "/*\n * Licensed to the Apache Software Foundation (ASF)"
METHOD = r"@Test\n +(?:def|public void) (\w+)"
RELEASES_SHOWN = ("4.2.1", "4.3.1", "4.4.0")
each_test = pytest.mark.parametrize("test", TESTS, ids=lambda test: test.name)


def report(outcome_of: dict[str, str]) -> str:
    def case(name: str, message: str) -> str:
        problem = f"<failure message={quoteattr(message)}/>" if message else ""
        return f"<testcase name={quoteattr(name)}><system-out/>{problem}</testcase>"

    return f"<testsuite>{''.join(case(*each) for each in outcome_of.items())}</testsuite>"


def as_told_of(test: FailingTest, kafka: str = "4.3.1") -> dict[str, str]:
    failures = test.failures_on(kafka)
    failed = {name: f"{begins} ==> expected: <0>" for name, begins in failures.items()}
    return dict.fromkeys(test.methods, "") | failed


def own_contexts(tests: list[FailingTest]) -> set[Context]:
    """Those that are shown beside the test; that of before 4.2 is of all, and the README's."""
    return {each for test in tests for each in test.contexts} - set(REGISTRATIONS)


@each_test
def test_the_outcomes_that_are_waited_for_are_those_of_tests_there_are(test: FailingTest) -> None:
    text = text_of(test.file, "4.3.1")

    assert text.startswith(HEADER)
    assert sorted(re.findall(METHOD, text)) == list(test.methods)


@each_test
def test_each_method_says_whether_it_fails(test: FailingTest) -> None:
    said = re.findall(rf"(Fails|Passes)([^:,]*)[:,] [^@]*{METHOD}", text_of(test.file, "4.3.1"))
    on_some = {name for name, fails in test.fails.items() if fails != Fails(fails.begins)}

    assert {name for word, _, name in said if word == "Fails"} == set(test.fails)
    assert {name for word, _, name in said if word == "Passes"} == set(test.passes)
    assert {name for _, releases, name in said if releases} == on_some


def test_each_text_shows_the_tests_that_are_run() -> None:
    for ticket in {test.ticket for test in TESTS}:
        text = (UPSTREAM / ticket).read_text(encoding="utf-8")
        shown = re.findall(r"```(?:scala|java)\n(.*?)```", text, re.DOTALL)
        tests = [test for test in TESTS if test.ticket == ticket]

        assert shown == [text_of(tests[0].file, "4.3.1")]
        assert all(test.file in text for test in tests)
        assert all(context.name in text for context in own_contexts(tests))


@each_test
def test_each_text_shows_the_outcome_of_every_method(test: FailingTest) -> None:
    text = (UPSTREAM / test.ticket).read_text(encoding="utf-8")
    outputs = "".join(re.findall(r"```text\n(.*?)```", text, re.DOTALL))
    shown = [kafka for kafka in RELEASES_SHOWN if test in compiled_against(kafka)]

    for kafka in shown:
        for name in test.methods:
            said = said_of(test, kafka, name, test.failures_on(kafka).get(name, ""))
            assert f"{kafka} {test.name}.{name}: {said}" in outputs
    assert "4.3.1" in shown


@each_test
def test_only_the_outcomes_of_the_ticket_are_as_told(test: FailingTest) -> None:
    told = as_told_of(test)
    wrong, right = next(iter(test.failures_on("4.3.1"))), test.passes[0]

    assert outcomes(report(told)) == told
    assert is_as_told(test, "4.3.1", outcomes(report(told)))
    assert not is_as_told(test, "4.3.1", told | {wrong: ""})
    assert not is_as_told(test, "4.3.1", told | {wrong: "java.lang.NoSuchMethodError"})
    assert not is_as_told(test, "4.3.1", told | {right: "java.lang.NoSuchMethodError"})
    assert not is_as_told(test, "4.3.1", {name: told[name] for name in told if name != right})
    assert not is_as_told(test, "4.3.1", told | {"testOther": ""})
    assert not is_as_told(test, "4.3.1", {})


def test_a_release_without_the_fault_has_to_pass_and_the_line_says_why() -> None:
    (test,) = (test for test in TESTS if test.name == "TakenDirectoryElrTest")
    name = "testReplicaOfTakenDirectoryIsNotElected"

    assert is_as_told(test, "4.2.1", as_told_of(test, "4.2.1"))
    assert not is_as_told(test, "4.2.1", as_told_of(test, "4.3.1"))
    assert not is_as_told(test, "4.4.0", as_told_of(test, "4.2.1"))
    assert said_of(test, "4.2.1", name, "") == "passes, for this release lacks the fault"
    assert (
        said_of(test, "4.3.1", name, "") == said_of(test, "4.2.1", test.passes[0], "") == "passes"
    )
    assert said_of(test, "4.3.1", name, "Unexpected leader") == "fails: Unexpected leader"


@each_test
def test_with_the_patch_every_test_has_to_pass(test: FailingTest) -> None:
    assert is_as_told(test, "4.3.1", dict.fromkeys(test.methods, ""), patched=True)
    assert not is_as_told(test, "4.3.1", as_told_of(test), patched=True)


@pytest.mark.parametrize("kafka", RELEASES_SHOWN)
def test_every_ticket_has_a_patch_of_a_source_that_is_compiled(kafka: str) -> None:
    tests = compiled_against(kafka)
    changed = re.findall(r"(?m)^\+\+\+ b/(\S+)", patches(kafka, tests))

    assert all(re.findall(r"(?m)^\+\+\+ b/", patches(kafka, [test])) for test in tests)
    assert changed
    assert all(
        re.match(r"(core/src/main/scala|(metadata|storage)/src/main/java)/", name)
        for name in changed
    )


def test_a_release_has_the_patch_that_is_written_for_it_or_for_the_one_before() -> None:
    (test,) = (test for test in TESTS if test.ticket == "abandoned-future-log.md")
    text = (UPSTREAM / test.ticket).read_text(encoding="utf-8")

    assert list(patches_in(text)) == ["4.3.1", "4.4.0"]
    assert "LogManager.java" in patches("4.4.1", [test])
    assert "LogManager.scala" in patches("4.3.2", [test])
    assert "LogManager.scala" in patches("4.2.1", [test])


def test_each_text_says_who_made_it_and_who_has_to_answer_for_it() -> None:
    for ticket in {test.ticket for test in TESTS if not test.test_classes}:
        text = (UPSTREAM / ticket).read_text(encoding="utf-8")
        words = " ".join(text.split())

        assert "A tool, Waterline, " in words
        assert "a person has to read, run and answer for them before they are filed" in words
        for part in ("**What it does not cover.**", "**What was only read:**", "**Expected:**"):
            assert part in words


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
    assert {test.name for test in compiled_against("4.4.0")} == {
        test.name for test in TESTS if "AbstractPartitionTest" not in text_of(test.file, "4.4.0")
    }
