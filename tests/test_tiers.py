"""The tiers of tests: a case's budget, what a machine must have, samples of cases."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest

from tests.support.sampling import covering_pairs, drawn

pytest_plugins = ["pytester"]

CONFTEST = Path(__file__).with_name("conftest.py").read_text()
BURNS = """
    import time

    def test_it():
        until = time.process_time() + 0.4
        while time.process_time() < until:
            pass
"""
BURNS_IN_A_CHILD = """
    import subprocess, sys

    def test_it():
        until = "import time\\nwhile time.process_time() < 0.4: pass"
        subprocess.run([sys.executable, "-c", until], check=True)
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with our conftest, whose cases have 0.1 s."""
    monkeypatch.setenv("CI", "true")
    budget = "CASE_SECONDS_MAX = 2.0"
    assert budget in CONFTEST
    pytester.makeconftest(CONFTEST.replace(budget, "CASE_SECONDS_MAX = 0.1"))
    return pytester


@pytest.mark.parametrize("text", [BURNS, BURNS_IN_A_CHILD])
def test_a_case_that_exceeds_its_budget_fails_with_its_figure(
    project: pytest.Pytester, text: str
) -> None:
    project.makepyfile(text)
    result = project.runpytest_inprocess("-p", "no:waterline")

    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines([r".*0\.[4-9] s of processor time; a case has 0 s here\..*"])


def test_outside_of_ci_a_case_may_take_its_time(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI")
    project.makepyfile(BURNS)

    project.runpytest_inprocess("-p", "no:waterline").assert_outcomes(passed=1)


@pytest.mark.parametrize(("required", "outcome"), [("tlc,brokers", "failed"), ("spark", "skipped")])
def test_a_skipped_test_fails_where_its_mark_is_required(
    project: pytest.Pytester, required: str, outcome: str
) -> None:
    project.makeini("[pytest]\nmarkers = brokers: a JVM")
    project.makepyfile(
        """
        import pytest

        @pytest.mark.brokers
        def test_it():
            pytest.skip("no Java here")
        """
    )
    result = project.runpytest_inprocess("-p", "no:waterline", "--require", required)

    result.assert_outcomes(**{outcome: 1})


def test_a_sample_has_every_pair_that_all_cases_have() -> None:
    cases = [case for case in product(range(4), range(4), range(5)) if sum(case) % 3]
    sample = covering_pairs(cases, lambda case: dict(zip("abc", case, strict=True)))

    def pairs(of: list[tuple[int, int, int]]) -> set[object]:
        return {pair for case in of for pair in combinations(enumerate(case), 2)}

    assert pairs(sample) == pairs(cases)
    assert len(sample) < len(cases)
    assert sample == sorted(sample)


def test_what_is_drawn_is_the_same_each_time_and_in_order() -> None:
    assert drawn(range(100), 7) == drawn(range(100), 7) == sorted(drawn(range(100), 7))
    assert len(drawn(range(100), 7)) == 7
    assert drawn("abc", 7) == ["a", "b", "c"]
