"""Renamings are those of the definition; a certificate up to names judges all of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.certificates import certificate_of, keys_in
from tests.support.renamed import orbit
from waterline.checker.analysis.certificate.certificate import open_certificate
from waterline.checker.analysis.certificate.certifying import certify
from waterline.checker.analysis.certificate.renaming import Renamings, key_of, words_of
from waterline.checker.kafka.families import MESSAGE, problem_for
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.model.atomic import AtomicEnvironment
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment

ANY = Environment(replicas=2, records=2, epochs=1, restarts=0, moves=0, election_order="any")
PROBLEMS: dict[str, Callable[[], Problem]] = {
    "replicas": lambda: problem_for("epoch", ANY, symmetry=Symmetry.REPLICAS),
    "records": lambda: problem_for("hw", ANY, symmetry=Symmetry.RECORDS),
    "all": lambda: problem_for("kip320", ANY, symmetry=Symmetry.ALL),
    "atomic": lambda: problem_for("kip320", AtomicEnvironment(replicas=3), symmetry=Symmetry.ALL),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_renamings_are_those_of_the_definition(name: str, tmp_path: Path) -> None:
    problem = PROBLEMS[name]()
    layout, symmetry = problem.model.layout, problem.symmetry
    renamings = Renamings(layout, symmetry)
    for key in random.Random(3).sample(keys_in(certificate_of(problem, tmp_path / "c")), 60):
        expected = {key_of(s.words) for s in orbit(State(layout, words_of(key)), symmetry.sorts)}
        found = renamings.of(key)

        assert found[0] == key
        assert {*found} == expected
        assert len(found) == len(expected)


@pytest.mark.parametrize("name", ["replicas", "records", "all"])
def test_a_verdict_up_to_names_is_certified(name: str, tmp_path: Path) -> None:
    problem = PROBLEMS[name]()
    folder = certificate_of(problem, tmp_path / "certificate")
    certified = certify(open_certificate(folder, lambda _: MESSAGE), jobs=1)
    alone = replace(problem, symmetry=Symmetry.NONE)
    whole = certify(
        open_certificate(certificate_of(alone, tmp_path / "a"), lambda _: MESSAGE), jobs=1
    )

    assert certified.failure is None
    assert certified.states <= whole.states
    # All renamings are judged, also those that one initial state does not lead to.
    assert certified.steps > whole.steps


def test_a_rule_that_tells_names_apart_is_found_out(tmp_path: Path) -> None:
    """It does as it should in every state that is written, and not in their renamings."""
    folder = certificate_of(PROBLEMS["replicas"](), tmp_path / "certificate")
    written = {*keys_in(folder)}

    def build(version: str, environment: object) -> Model:
        model = MESSAGE.build(version, environment)
        fence = model.action("Fence")

        def guard(state: State, settings: object, *arguments: int) -> bool:
            return key_of(state.words) not in written or fence.guard(state, settings, *arguments)

        actions = tuple(replace(a, guard=guard) if a is fence else a for a in model.actions)
        return replace(model, actions=actions)

    failure = certify(
        open_certificate(folder, lambda _: replace(MESSAGE, build=build)), jobs=1
    ).failure

    assert failure is not None
    assert failure.renaming == 1


def test_a_claim_that_tells_names_apart_is_found_out(tmp_path: Path) -> None:
    """It is true of every state that is written, and not of their renamings."""
    folder = certificate_of(PROBLEMS["replicas"](), tmp_path / "certificate")
    written = {*keys_in(folder)}
    claims = [
        replace(each, holds=lambda state, settings: key_of(state.words) in written)
        if each.name == "sane"
        else each
        for each in MESSAGE.invariants
    ]

    failure = certify(
        open_certificate(folder, lambda _: replace(MESSAGE, invariants=tuple(claims))), jobs=1
    ).failure

    assert failure is not None
    assert (failure.what, failure.renaming) == ("breaks sane", 1)
