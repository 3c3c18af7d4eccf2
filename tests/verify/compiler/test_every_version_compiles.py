"""Every rule, claim and feature of every version has a compiled form."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.compiler.test_refused import EVERYTHING, with_everything
from waterline.checker.compiler.kernel import plan_of, program_of
from waterline.checker.kafka.families import ATOMIC, MESSAGE
from waterline.checker.problem.problem import Shared
from waterline.model.atomic import AtomicEnvironment
from waterline.model.message.environment import Environment
from waterline.model.message.features import FEATURES


@pytest.mark.parametrize("version", MESSAGE.versions)
@pytest.mark.parametrize("election_order", ["assignment", "any"])
def test_every_rule_and_claim_has_a_compiled_form(version: str, election_order: str) -> None:
    problem = with_everything(version, election_order)
    alone = program_of(plan_of(problem))
    everything = Shared(
        settings=frozenset(problem.model.settings._fields),
        actions=frozenset(action.name for action in problem.model.actions),
        claims=frozenset(claim.name for claim in (*MESSAGE.invariants, *MESSAGE.properties)),
    )
    shared = program_of(plan_of(replace(problem, shared=everything)))

    assert len(shared.text) > len(alone.text)


@pytest.mark.parametrize("feature", [feature.name for feature in FEATURES])
def test_every_feature_has_a_compiled_form_beside_the_others(feature: str) -> None:
    has = MESSAGE.versions["elr"].feature_names
    version = f"elr-{'without' if feature in has else 'with'}-{feature}"
    try:
        problem = MESSAGE.problem(version, Environment(**EVERYTHING))
    except ValueError:
        pytest.skip("others mean nothing without it")

    assert program_of(plan_of(problem)).text


@pytest.mark.parametrize("version", ATOMIC.versions)
def test_every_rule_of_the_atomic_grain_has_a_compiled_form(version: str) -> None:
    assert program_of(plan_of(ATOMIC.problem(version, AtomicEnvironment()))).text
