"""A specification names a problem, and the same problem is built from it again."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest

from tests.support.own import example
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.kafka.families import ATOMIC, MESSAGE, family_of
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import ProblemSpec
from waterline.checker.problem.where import where_asked
from waterline.model.core.errors import BadEnvironment

SMALL = {"records": 1, "epochs": 1, "restarts": 1}
ANY_ORDER = {"election-order": "any", **SMALL}


def described_problems() -> dict[str, Problem]:
    message = MESSAGE.problem("hw", SMALL)
    return {
        "defaults": message,
        "claims": MESSAGE.problem("epoch", SMALL, ["sane", "valid_isr"]),
        "no claim": replace(message, asked=frozenset()),
        "switched": MESSAGE.problem("kip320-without-fencing", SMALL),
        "symmetry": MESSAGE.problem("hw", ANY_ORDER, symmetry="replicas"),
        "condition": where_asked(message, "s.leo[0] == 1", ("sane",)),
        "atomic": ATOMIC.problem("kip279", {}),
        "own": example("two_phase_commit", rms=2),
    }


PROBLEMS = described_problems()


def again(problem: Problem) -> Problem:
    """Built from the specification as JSON."""
    value = json.loads(json.dumps(problem.spec.to_json()))
    family = problem.family
    assert family is not None
    return ProblemSpec.from_json(value).build(lambda name: family)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_problem_is_built_again_from_json(name: str) -> None:
    problem = PROBLEMS[name]
    built = again(problem)

    assert built.spec == problem.spec
    assert (built.asked_names, built.checked) == (problem.asked_names, problem.checked)
    assert built.model.options == problem.model.options
    assert problem_digest(built) == problem_digest(problem)


@pytest.mark.parametrize("name", PROBLEMS)
def test_another_process_has_the_same_specification(name: str) -> None:
    problem = PROBLEMS[name]
    if problem.family is not None and problem.family.is_read_at_run_time:
        sent = problem.__reduce_ex__(4)
        built = sent[0](*sent[1])
    else:
        make, arguments = problem.__reduce_ex__(4)
        built = make(*arguments)

    assert built.spec == problem.spec
    assert problem_digest(built) == problem_digest(problem)
    assert pickle.loads(pickle.dumps(problem.spec)) == problem.spec


def test_no_two_of_them_are_taken_for_one() -> None:
    digests = {problem.spec.digest() for problem in PROBLEMS.values()}

    assert len(digests) == len(PROBLEMS)
    assert len({problem.spec for problem in PROBLEMS.values()}) == len(PROBLEMS)


@pytest.mark.parametrize(
    "changed",
    [
        {"version": "epoch"},
        {"options": (("records", 2),)},
        {"claims": frozenset()},
        {"symmetry": "replicas"},
        {"where": "s.leo[0] == 1"},
        {"model": "another"},
    ],
    ids=str,
)
def test_each_part_makes_another_specification(changed: dict[str, object]) -> None:
    spec = PROBLEMS["defaults"].spec
    other = replace(spec, **changed)  # type: ignore[arg-type]

    assert other != spec
    assert other.digest() != spec.digest()


def test_the_order_of_options_makes_no_other() -> None:
    spec = PROBLEMS["defaults"].spec
    turned = replace(spec, options=tuple(reversed(spec.options)))

    assert turned == spec
    assert hash(turned) == hash(spec)
    assert turned.digest() == spec.digest()


def test_its_space_is_what_problems_share_that_differ_in_claims() -> None:
    assert MESSAGE.problem("hw", SMALL, ["sane"]).spec.space == PROBLEMS["defaults"].spec.space
    assert PROBLEMS["condition"].spec.space != PROBLEMS["defaults"].spec.space


def test_an_empty_list_of_claims_asks_none_and_no_list_asks_the_defaults() -> None:
    spec = PROBLEMS["defaults"].spec

    assert replace(spec, claims=frozenset()).build(family_of).checked == ()
    unnamed = ProblemSpec.from_json(replace(spec, claims=None).to_json())
    assert unnamed == replace(spec, claims=None)
    assert unnamed.build(family_of).checked == PROBLEMS["defaults"].checked


@pytest.mark.parametrize("claims", ["sane", [1], {"sane": 1}])
def test_a_manifest_names_its_claims(claims: object) -> None:
    value = {**PROBLEMS["defaults"].spec.to_json(), "invariants": claims}

    with pytest.raises(ValueError, match="a list of names"):
        ProblemSpec.from_json(value)


def test_rules_that_were_switched_for_others_are_sent_by_their_parts() -> None:
    """A family in another process would have the rules that are imported there."""
    problem = PROBLEMS["defaults"]
    first = problem.model.actions[:1]
    none = replace(problem.model, actions=first, contents=tuple(action.name for action in first))
    make, arguments = replace(problem, model=none).__reduce_ex__(4)

    assert len(make(*arguments).model.actions) == 1


def test_an_unknown_claim_is_named_with_the_nearest() -> None:
    spec = replace(PROBLEMS["defaults"].spec, claims=frozenset(["sain"]))

    with pytest.raises(BadEnvironment, match="invariant is 'sain'"):
        spec.build(family_of)
