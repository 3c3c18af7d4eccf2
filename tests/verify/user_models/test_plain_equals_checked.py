"""Examples, and rules made at random, do in many states what the checker says they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.live import Both
from tests.support.rule_texts import rule_text
from tests.user_models.test_containers import FILES
from tests.user_models.test_plain_equals_checked import (
    EXAMPLE_FILES,
    assert_claims_agree,
    assert_containers_run_as_checked,
    assert_runs_as_checked,
    differences,
)
from waterline.model.core.errors import BadEnvironment

RANDOM_MODELS = 10


@pytest.mark.parametrize("file", EXAMPLE_FILES, ids=lambda file: file.stem)
def test_every_example_runs_as_it_is_checked(file: Path) -> None:
    assert_runs_as_checked(file, 150)


@pytest.mark.parametrize("file", EXAMPLE_FILES, ids=lambda file: file.stem)
def test_claims_say_of_plain_states_what_they_say_of_the_checkers(file: Path) -> None:
    assert_claims_agree(file, 200)


@pytest.mark.parametrize("name", FILES)
def test_sets_queues_and_logs_run_as_they_are_checked(name: str, tmp_path: Path) -> None:
    assert_containers_run_as_checked(FILES[name], tmp_path, 150)


@pytest.mark.parametrize("seed", range(RANDOM_MODELS))
def test_rules_made_at_random_run_as_they_are_checked(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "made.py"
    file.write_text(rule_text(seed))
    try:
        both = Both.of(file)
    except BadEnvironment as refused:
        pytest.skip(f"not a model: {refused}")

    assert differences(both, 25) == []


def test_few_random_models_are_refused(tmp_path: Path) -> None:
    """Else the test above would be empty."""
    kinds, refused = set(), 0
    for seed in range(12):
        file = tmp_path / f"made{seed}.py"
        file.write_text(rule_text(seed))
        try:
            both = Both.of(file)
        except BadEnvironment:
            refused += 1
            continue
        states = list(both.reached(20))
        kinds |= {what for state in states for what, _ in both.checked(state).values()}

    assert kinds == {"after", "not enabled", "cut", "raised"}
    assert refused < 4
