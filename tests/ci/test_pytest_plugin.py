"""Gates are tests, and models are checked in code, in a project that has Waterline installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.gate_texts import entry

pytest_plugins = ["pytester"]
JUGS = (Path(__file__).parents[2] / "examples" / "die_hard.py").read_text()
OWN = (
    '[[expect]]\nname = "jugs"\nmodel = "die_hard.py"\nengine = "local"\n'
    'verdicts = { not_yet_measured = "holds" }\n'
)


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with a model; pytest in it is as in any project."""
    (pytester.path / "die_hard.py").write_text(JUGS)
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider -p no:randomly\n")
    return pytester


def test_a_gate_is_a_test_for_each_expectation(project: pytest.Pytester) -> None:
    (project.path / "gate.toml").write_text(entry("keeps") + OWN)
    done = project.runpytest("--waterline-allow-models", "-v")

    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            "gate.toml::keeps PASSED*",
            "gate.toml::jugs FAILED*",
            "*not_yet_measured: expected holds, got violated after 6 steps",
            "shown by waterline check --engine local --model *die_hard.py*",
            "VIOLATED not_yet_measured: *",
            "*6. *",
        ]
    )
    assert "Traceback" not in done.stdout.str()


def test_a_gate_runs_no_model_unasked(project: pytest.Pytester) -> None:
    (project.path / "my.gate.toml").write_text(OWN)
    done = project.runpytest()

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*my.gate.toml:3:1: jugs: it names the model 'die_hard.py'*"])
    assert "allow it with --waterline-allow-models" in " ".join(done.stdout.str().split())


def test_a_mistake_in_a_gate_is_an_error_with_its_place(project: pytest.Pytester) -> None:
    (project.path / "gate.toml").write_text(entry(more="replicsa = 2\n"))
    done = project.runpytest()

    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*gate.toml:5:1: n: unknown key 'replicsa'; did you mean replicas*"])


CODE = """
from die_hard import die_hard


def test_a_file(check_model):
    outcome = check_model(
        "die_hard.py", bounds={"big": 5}, verdicts={"not_yet_measured": "violated"}
    )
    assert outcome.answer.result.violated[0].depth == 6


def test_a_function(check_model):
    check_model(die_hard, verdicts={"not_yet_measured": {"verdict": "violated", "depth": 6}})


def test_that_fails(check_model):
    check_model(die_hard, verdicts={"not_yet_measured": "holds"})


def test_a_mistake(check_model):
    check_model(die_hard, verdicts={"measured": "holds"})
"""


def test_a_model_is_checked_in_code(project: pytest.Pytester) -> None:
    project.makepyfile(test_jugs=CODE)
    done = project.runpytest_subprocess("-v")

    done.assert_outcomes(passed=2, failed=2)
    done.stdout.fnmatch_lines(
        [
            "*not_yet_measured: expected holds, got violated after 6 steps",
            "*BadGate*unknown claim 'measured'; did you mean not_yet_measured?*",
        ]
    )


def test_without_a_gate_nothing_of_it_is_imported(project: pytest.Pytester) -> None:
    project.makepyfile(
        "import sys\n"
        "heavy = {'waterline.checker.ci', 'waterline.checker.checking.run'}\n"
        "def test(): assert not heavy & set(sys.modules)"
    )

    project.runpytest_subprocess().assert_outcomes(passed=1)
