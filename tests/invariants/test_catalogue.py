"""The catalogues: a claim's file, its name, and its place in the list are one thing."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

from waterline import invariants
from waterline.invariants import reachable
from waterline.model.core.claim import ActionProperty, Invariant, Reachable, Recoverable, Temporal
from waterline.model.message.environment import Environment
from waterline.model.message.settings import settings_of
from waterline.model.message.versions import VERSIONS

NOT_CLAIMS = {
    "atomic",
    "breaking",
    "claim",
    "completeness",
    "contract",
    "current_leader",
    "electable",
    "expected",
    "kept_records",
    "lemmas",
    "outside",
    "reachable",
    "side_conditions",
    "way_back",
}


def modules(package: ModuleType) -> dict[str, ModuleType]:
    """Every module of a package that states a claim, by its file's name."""
    names = {found.name for found in pkgutil.iter_modules(package.__path__)} - NOT_CLAIMS
    return {name: importlib.import_module(f"{package.__name__}.{name}") for name in sorted(names)}


Claim = Invariant | ActionProperty | Recoverable | Temporal | Reachable
OF_RUNS: tuple[Claim, ...] = (*invariants.ALL, *invariants.PROPERTIES, *invariants.BEHAVIOURS)
CLAIMS: tuple[Claim, ...] = (*OF_RUNS, *reachable.ALL)


def test_the_catalogue_has_the_claim_of_every_module_exactly_once() -> None:
    found = modules(invariants)

    assert sorted(claim.name for claim in OF_RUNS) == sorted(found)
    assert all(found[claim.name].CLAIM is claim for claim in OF_RUNS)


def test_what_must_happen_is_every_rule_about_a_step() -> None:
    rules = [
        rule
        for rule in vars(reachable).values()
        if inspect.isfunction(rule) and "before" in inspect.signature(rule).parameters
    ]

    assert [claim.happens for claim in reachable.ALL] == rules


def test_each_catalogue_has_claims_of_one_kind() -> None:
    assert {type(claim) for claim in invariants.ALL} == {Invariant}
    assert {type(claim) for claim in invariants.PROPERTIES} == {ActionProperty}
    assert {type(claim) for claim in invariants.BEHAVIOURS} == {Recoverable, Temporal}
    assert {type(claim) for claim in reachable.ALL} == {Reachable}


def test_no_two_claims_share_a_name() -> None:
    names = [claim.name for claim in CLAIMS]

    assert len(names) == len(set(names)) > 0


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_claim_is_one_sentence(claim: Claim) -> None:
    assert claim.sentence
    assert claim.sentence[0].isupper()
    assert claim.sentence.count(".") == 1
    assert claim.sentence.endswith(".")


def test_every_claim_has_a_place_and_a_severity_of_its_own() -> None:
    ranks = [claim.rank for claim in OF_RUNS if not isinstance(claim, Reachable)]
    severities = [c.breach.severity for c in invariants.ALL if c.breach is not None]

    assert len(set(ranks)) == len(ranks)
    assert len(set(severities)) == len(severities) > 0


@pytest.mark.parametrize("claim", OF_RUNS, ids=lambda claim: claim.name)
def test_a_claim_that_is_promised_is_so_by_default(
    claim: Invariant | ActionProperty | Recoverable | Temporal,
) -> None:
    settings = settings_of(Environment(), VERSIONS["elr"])

    assert claim.contract(settings) is None
    assert not claim.remark or claim.remark.endswith(".")
