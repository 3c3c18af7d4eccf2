"""The claims about the atomic grain: one state for each, one against it, and the words for it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

import pytest

from tests.support.atomic_states import by_hand, cluster
from waterline.invariants import atomic
from waterline.invariants.atomic import reachable
from waterline.model.core.claim import Invariant, Reachable
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model

CLAIMS = {claim.name: claim for claim in atomic.ALL}
REACHABLE = {claim.name: claim for claim in reachable.ALL}
NOT_CLAIMS = {"exposed", "reachable"}

MODEL = cluster("hw", replicas=3)
LED: dict[str, Any] = {
    "issued": 1,
    "request_leader": [0],
    "request_isr": [0b011],
    "known_epoch": [0, 0, 0],
    "known_isr": [0b011],
    "produced": 2,
}
COMMITTED = {**LED, "leo": [1, 1], "log": [[1], [1]], "hw": [1]}
STALE = {
    **COMMITTED,
    "issued": 2,
    "request_leader": [0, 2],
    "request_isr": [0b011, 0b100],
    "known_epoch": [0, 0, 1],
    "known_isr": [0b011, 0, 0b100],
}


def state(model: Model = MODEL, **fields: Any) -> State:
    return by_hand(model, **fields)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("weak_isr", {}),
        ("weak_isr", COMMITTED),
        ("weak_isr", {**COMMITTED, "hw": [0], "leo": [1, 0], "log": [[1]]}),
        ("weak_isr", {**COMMITTED, "leo": [2, 2], "log": [[1, 1], [1, 2]]}),
        ("weak_isr", {**COMMITTED, "known_isr": [0b001], "leo": [1, 0], "log": [[1]]}),
        ("weak_isr", STALE),
        ("strong_isr", {}),
        ("strong_isr", COMMITTED),
        ("strong_isr", {**STALE, "leo": [1, 0, 1], "log": [[1], [], [1]]}),
        ("leader_in_isr", COMMITTED),
        ("elected_leader_in_isr", {}),
        ("elected_leader_in_isr", COMMITTED),
        ("type_ok", {}),
        ("type_ok", COMMITTED),
    ],
)
def test_a_claim_holds_where_nothing_is_wrong(name: str, fields: dict[str, Any]) -> None:
    assert CLAIMS[name].holds(state(**fields), MODEL.settings)
    assert CLAIMS[name].explain(state(**fields), MODEL.settings).endswith(".")


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        (
            "weak_isr",
            {**COMMITTED, "leo": [1, 0], "log": [[1]]},
            "r0, leading in epoch 0 with high watermark 1, has m1 at offset 0, but r1 has nothing "
            "there. r0 counts r1 as in sync.",
        ),
        (
            "weak_isr",
            {**COMMITTED, "leo": [2, 2], "log": [[1, 1], [1, 2]], "hw": [2]},
            "r0, leading in epoch 0 with high watermark 2, has m1 at offset 1, but r1 has m2 "
            "there. r0 counts r1 as in sync.",
        ),
        (
            "weak_isr",
            {**COMMITTED, "hw": [2]},
            "r0, leading in epoch 0 with high watermark 2, has nothing at offset 1, but r0 has "
            "nothing there. r0 counts r0 as in sync.",
        ),
        (
            "strong_isr",
            STALE,
            "r0, leading in epoch 0 with high watermark 1, has m1 at offset 0, but r2 has nothing "
            "there. r2 is in the quorum ISR.",
        ),
        ("leader_in_isr", {}, "The quorum has no leader."),
        ("leader_in_isr", {**COMMITTED, "known_isr": [0b010]}, "Leader r0 is not in the ISR."),
        (
            "elected_leader_in_isr",
            {**COMMITTED, "known_isr": [0b010]},
            "Leader r0 is not in the ISR.",
        ),
        ("type_ok", {"leo": [1]}, "A log has a hole, or a record above its end."),
        ("type_ok", {"log": [[1]]}, "A log has a hole, or a record above its end."),
        (
            "type_ok",
            {**COMMITTED, "produced": 0},
            "A log has a record that was never produced.",
        ),
        (
            "type_ok",
            {"known_epoch": [0, -1, -1]},
            "A replica knows an epoch that has not been given out.",
        ),
        (
            "type_ok",
            {**COMMITTED, "known_isr": [0b011, 0b011]},
            "A replica that does not lead has an ISR of its own.",
        ),
        (
            "type_ok",
            {"request_leader": [0]},
            "There is a request for an epoch that has not been given out.",
        ),
        (
            "type_ok",
            {"request_isr": [0b1]},
            "There is a request for an epoch that has not been given out.",
        ),
        (
            "type_ok",
            {"produced": 1, "record_epoch": [1]},
            "An epoch is stored for a record that no log has.",
        ),
    ],
)
def test_a_claim_is_broken_and_says_by_whom(name: str, fields: dict[str, Any], words: str) -> None:
    assert not CLAIMS[name].holds(state(**fields), MODEL.settings)
    assert CLAIMS[name].explain(state(**fields), MODEL.settings) == words


@pytest.mark.parametrize(
    ("name", "before", "after", "happens"),
    [
        ("record_is_written", {"produced": 0}, {"produced": 1}, True),
        ("record_is_written", {"produced": 1}, {"produced": 1}, False),
        ("high_watermark_advances", {**COMMITTED, "hw": [0]}, COMMITTED, True),
        ("high_watermark_advances", COMMITTED, {**COMMITTED, "hw": [1, 1]}, False),
        ("leader_is_replaced", {**STALE, "known_epoch": [0, 0, 0]}, STALE, True),
        ("leader_is_replaced", {**LED, "known_epoch": [-1, 0, 0]}, LED, False),
        ("leader_is_replaced", STALE, STALE, False),
        ("truncation_removes_record", COMMITTED, {**COMMITTED, "leo": [1]}, True),
        ("truncation_removes_record", {**COMMITTED, "leo": [1]}, COMMITTED, False),
    ],
)
def test_what_must_happen_is_told_from_what_does_not(
    name: str, before: dict[str, Any], after: dict[str, Any], happens: bool
) -> None:
    claim = REACHABLE[name]

    assert claim.happens(state(**before), state(**after), MODEL.settings) is happens


def test_the_catalogue_has_the_claim_of_every_module_exactly_once() -> None:
    names = {m.name for m in pkgutil.iter_modules(atomic.__path__)} - NOT_CLAIMS
    found = [importlib.import_module(f"{atomic.__name__}.{n}").CLAIM for n in sorted(names)]

    assert sorted(atomic.ALL, key=lambda claim: claim.name) == found
    assert [claim.name for claim in found] == sorted(names)


def test_what_must_happen_is_every_rule_about_a_step() -> None:
    rules = {
        rule
        for rule in vars(reachable).values()
        if inspect.isfunction(rule) and "before" in inspect.signature(rule).parameters
    }

    assert {claim.happens for claim in reachable.ALL} == rules


@pytest.mark.parametrize("claim", [*atomic.ALL, *reachable.ALL], ids=lambda claim: claim.name)
def test_a_claim_is_one_sentence(claim: Invariant | Reachable) -> None:
    assert claim.sentence[0].isupper()
    assert claim.sentence.count(".") == 1
    assert claim.sentence.endswith(".")
